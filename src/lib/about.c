/* SPDX-License-Identifier: MIT */
/* What can be asked of the handle without changing it, and what a consumer tells it for the ledger. See exeunt.h. */
#include "lib/engine.h"

#include "base/util.h"
#include "record/entity.h"

int exeunt_report_loss(struct exeunt *x, const struct exeunt_loss *loss)
{
	if (loss->source != EXEUNT_SOURCE_OUTPUT)
		return -EINVAL;
	ledger_lose(x->ledger, loss);
	return 0;
}

void exeunt_keep_back(struct exeunt *x, const struct exeunt_record *record)
{
	struct exeunt_balance *b = ledger_balance(x->ledger);

	if (record->type == EXEUNT_TYPE_EXIT)
		b->filtered++;
	b->records--;
	x->seq--;
}

void exeunt_balance(const struct exeunt *x, struct exeunt_balance *ret)
{
	*ret = *ledger_balance(x->ledger);
	join_count(x->joiner, ret);
}

const struct exeunt_source_status *exeunt_sources(const struct exeunt *x, size_t *n)
{
	*n = ARRAY_SIZE(x->status);
	return x->status;
}

const char *exeunt_error(const struct exeunt *x)
{
	return x->error;
}

const char *exeunt_host_name(const struct exeunt *x)
{
	return x->info.host;
}

const char *exeunt_boot_id(const struct exeunt *x)
{
	return x->info.boot_id;
}

int exeunt_entity_id(const struct exeunt *x, const struct exeunt_record *record, char *buf,
		     size_t size)
{
	char boot_id[ENTITY_BOOT_LEN + 1];

	if (!exeunt_has(record, EXEUNT_F_ENTITY_ID))
		return -ENODATA;
	if (size < ENTITY_MAX)
		return -ENOSPC;
	entity_boot_id(boot_id, x->info.boot_id);
	return (int)entity_format(buf, boot_id, record->pid, record->entity_start_ns);
}

const char *exeunt_version(void)
{
	return EXEUNT_VERSION;
}
