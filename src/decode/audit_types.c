/* SPDX-License-Identifier: MIT */
/*
 * Owns one table, sorted by name in byte order for the binary search: the record types of
 * linux/audit.h and libaudit.h. The few types that make up nearly every stream are tried first, by
 * their length.
 */
#include "decode/audit_types.h"

#include <linux/audit.h>

#include "base/util.h"

struct type_row {
	char name[26];
	unsigned short type;
};

static const struct type_row types[] = {
	{ "ACCT_LOCK", 1135 },
	{ "ACCT_UNLOCK", 1136 },
	{ "ADD_GROUP", 1116 },
	{ "ADD_USER", 1114 },
	{ "ANOM_ABEND", 1701 },
	{ "ANOM_ACCESS_FS", 2111 },
	{ "ANOM_ADD_ACCT", 2114 },
	{ "ANOM_AMTU_FAIL", 2107 },
	{ "ANOM_CREAT", 1703 },
	{ "ANOM_CRYPTO_FAIL", 2110 },
	{ "ANOM_DEL_ACCT", 2115 },
	{ "ANOM_EXEC", 2112 },
	{ "ANOM_LINK", 1702 },
	{ "ANOM_LOGIN_ACCT", 2103 },
	{ "ANOM_LOGIN_FAILURES", 2100 },
	{ "ANOM_LOGIN_LOCATION", 2104 },
	{ "ANOM_LOGIN_ROOT", 2119 },
	{ "ANOM_LOGIN_SERVICE", 2118 },
	{ "ANOM_LOGIN_SESSIONS", 2102 },
	{ "ANOM_LOGIN_TIME", 2101 },
	{ "ANOM_MAX_DAC", 2105 },
	{ "ANOM_MAX_MAC", 2106 },
	{ "ANOM_MK_EXEC", 2113 },
	{ "ANOM_MOD_ACCT", 2116 },
	{ "ANOM_ORIGIN_FAILURES", 2120 },
	{ "ANOM_PROMISCUOUS", 1700 },
	{ "ANOM_RBAC_FAIL", 2108 },
	{ "ANOM_RBAC_INTEGRITY_FAIL", 2109 },
	{ "ANOM_ROOT_TRANS", 2117 },
	{ "ANOM_SESSION", 2121 },
	{ "APPARMOR", 1500 },
	{ "APPARMOR_ALLOWED", 1502 },
	{ "APPARMOR_AUDIT", 1501 },
	{ "APPARMOR_DENIED", 1503 },
	{ "APPARMOR_ERROR", 1506 },
	{ "APPARMOR_HINT", 1504 },
	{ "APPARMOR_KILL", 1507 },
	{ "APPARMOR_STATUS", 1505 },
	{ "AVC", 1400 },
	{ "AVC_PATH", 1402 },
	{ "BPF", 1334 },
	{ "BPRM_FCAPS", 1321 },
	{ "CAPSET", 1322 },
	{ "CHGRP_ID", 1119 },
	{ "CHUSER_ID", 1125 },
	{ "CONFIG_CHANGE", 1305 },
	{ "CRED_ACQ", 1103 },
	{ "CRED_DISP", 1104 },
	{ "CRED_REFR", 1110 },
	{ "CRYPTO_FAILURE_USER", 2405 },
	{ "CRYPTO_IKE_SA", 2408 },
	{ "CRYPTO_IPSEC_SA", 2409 },
	{ "CRYPTO_KEY_USER", 2404 },
	{ "CRYPTO_LOGIN", 2402 },
	{ "CRYPTO_LOGOUT", 2403 },
	{ "CRYPTO_PARAM_CHANGE_USER", 2401 },
	{ "CRYPTO_REPLAY_USER", 2406 },
	{ "CRYPTO_SESSION", 2407 },
	{ "CRYPTO_TEST_USER", 2400 },
	{ "CWD", 1307 },
	{ "DAC_CHECK", 1118 },
	{ "DAEMON_ABORT", 1202 },
	{ "DAEMON_ACCEPT", 1207 },
	{ "DAEMON_CLOSE", 1208 },
	{ "DAEMON_CONFIG", 1203 },
	{ "DAEMON_END", 1201 },
	{ "DAEMON_ERR", 1209 },
	{ "DAEMON_RESUME", 1206 },
	{ "DAEMON_ROTATE", 1205 },
	{ "DAEMON_START", 1200 },
	{ "DEL_GROUP", 1117 },
	{ "DEL_USER", 1115 },
	{ "DEV_ALLOC", 2307 },
	{ "DEV_DEALLOC", 2308 },
	{ "DM_CTRL", 1338 },
	{ "DM_EVENT", 1339 },
	{ "EOE", 1320 },
	{ "EVENT_LISTENER", 1335 },
	{ "EXECVE", 1309 },
	{ "FANOTIFY", 1331 },
	{ "FD_PAIR", 1317 },
	{ "FEATURE_CHANGE", 1328 },
	{ "FS_RELABEL", 2309 },
	{ "GRP_AUTH", 1126 },
	{ "GRP_CHAUTHTOK", 1133 },
	{ "GRP_MGMT", 1132 },
	{ "INTEGRITY_DATA", 1800 },
	{ "INTEGRITY_EVM_XATTR", 1806 },
	{ "INTEGRITY_HASH", 1803 },
	{ "INTEGRITY_METADATA", 1801 },
	{ "INTEGRITY_PCR", 1804 },
	{ "INTEGRITY_POLICY_RULE", 1807 },
	{ "INTEGRITY_RULE", 1805 },
	{ "INTEGRITY_STATUS", 1802 },
	{ "IPC", 1303 },
	{ "IPC_SET_PERM", 1311 },
	{ "IPE_ACCESS", 1420 },
	{ "IPE_CONFIG_CHANGE", 1421 },
	{ "IPE_POLICY_LOAD", 1422 },
	{ "KERNEL", 2000 },
	{ "KERNEL_OTHER", 1316 },
	{ "KERN_MODULE", 1330 },
	{ "LABEL_LEVEL_CHANGE", 2304 },
	{ "LABEL_OVERRIDE", 2303 },
	{ "LANDLOCK_ACCESS", 1423 },
	{ "LANDLOCK_DOMAIN", 1424 },
	{ "LOGIN", 1006 },
	{ "MAC_CALIPSO_ADD", 1418 },
	{ "MAC_CALIPSO_DEL", 1419 },
	{ "MAC_CHECK", 1134 },
	{ "MAC_CIPSOV4_ADD", 1407 },
	{ "MAC_CIPSOV4_DEL", 1408 },
	{ "MAC_CONFIG_CHANGE", 1405 },
	{ "MAC_IPSEC_ADDSA", 1411 },
	{ "MAC_IPSEC_ADDSPD", 1413 },
	{ "MAC_IPSEC_DELSA", 1412 },
	{ "MAC_IPSEC_DELSPD", 1414 },
	{ "MAC_IPSEC_EVENT", 1415 },
	{ "MAC_MAP_ADD", 1409 },
	{ "MAC_MAP_DEL", 1410 },
	{ "MAC_OBJ_CONTEXTS", 1426 },
	{ "MAC_POLICY_LOAD", 1403 },
	{ "MAC_STATUS", 1404 },
	{ "MAC_TASK_CONTEXTS", 1425 },
	{ "MAC_UNLBL_ALLOW", 1406 },
	{ "MAC_UNLBL_STCADD", 1416 },
	{ "MAC_UNLBL_STCDEL", 1417 },
	{ "MMAP", 1323 },
	{ "MQ_GETSETATTR", 1315 },
	{ "MQ_NOTIFY", 1314 },
	{ "MQ_OPEN", 1312 },
	{ "MQ_SENDRECV", 1313 },
	{ "NETFILTER_CFG", 1325 },
	{ "NETFILTER_PKT", 1324 },
	{ "OBJ_PID", 1318 },
	{ "OPENAT2", 1337 },
	{ "PATH", 1302 },
	{ "PROCTITLE", 1327 },
	{ "RESP_ACCT_LOCK", 2207 },
	{ "RESP_ACCT_LOCK_TIMED", 2205 },
	{ "RESP_ACCT_REMOTE", 2204 },
	{ "RESP_ACCT_UNLOCK_TIMED", 2206 },
	{ "RESP_ALERT", 2201 },
	{ "RESP_ANOMALY", 2200 },
	{ "RESP_EXEC", 2210 },
	{ "RESP_HALT", 2212 },
	{ "RESP_KILL_PROC", 2202 },
	{ "RESP_ORIGIN_BLOCK", 2213 },
	{ "RESP_ORIGIN_BLOCK_TIMED", 2214 },
	{ "RESP_ORIGIN_UNBLOCK_TIMED", 2215 },
	{ "RESP_SEBOOL", 2209 },
	{ "RESP_SINGLE", 2211 },
	{ "RESP_TERM_ACCESS", 2203 },
	{ "RESP_TERM_LOCK", 2208 },
	{ "ROLE_ASSIGN", 2301 },
	{ "ROLE_MODIFY", 2311 },
	{ "ROLE_REMOVE", 2302 },
	{ "SECCOMP", 1326 },
	{ "SELINUX_ERR", 1401 },
	{ "SERVICE_START", 1130 },
	{ "SERVICE_STOP", 1131 },
	{ "SOCKADDR", 1306 },
	{ "SOCKETCALL", 1304 },
	{ "SOFTWARE_UPDATE", 1138 },
	{ "SYSCALL", 1300 },
	{ "SYSTEM_BOOT", 1127 },
	{ "SYSTEM_RUNLEVEL", 1129 },
	{ "SYSTEM_SHUTDOWN", 1128 },
	{ "TEST", 1120 },
	{ "TIME_ADJNTPVAL", 1333 },
	{ "TIME_INJOFFSET", 1332 },
	{ "TRUSTED_APP", 1121 },
	{ "TTY", 1319 },
	{ "URINGOP", 1336 },
	{ "USER", 1005 },
	{ "USER_ACCT", 1101 },
	{ "USER_AUTH", 1100 },
	{ "USER_AVC", 1107 },
	{ "USER_CHAUTHTOK", 1108 },
	{ "USER_CMD", 1123 },
	{ "USER_DEVICE", 1137 },
	{ "USER_END", 1106 },
	{ "USER_ERR", 1109 },
	{ "USER_LABELED_EXPORT", 2305 },
	{ "USER_LOGIN", 1112 },
	{ "USER_LOGOUT", 1113 },
	{ "USER_MAC_CONFIG_CHANGE", 2312 },
	{ "USER_MAC_POLICY_LOAD", 2310 },
	{ "USER_MAC_STATUS", 2313 },
	{ "USER_MGMT", 1102 },
	{ "USER_ROLE_CHANGE", 2300 },
	{ "USER_SELINUX_ERR", 1122 },
	{ "USER_START", 1105 },
	{ "USER_TTY", 1124 },
	{ "USER_UNLABELED_EXPORT", 2306 },
	{ "USYS_CONFIG", 1111 },
	{ "VIRT_CONTROL", 2500 },
	{ "VIRT_CREATE", 2504 },
	{ "VIRT_DESTROY", 2505 },
	{ "VIRT_INTEGRITY_CHECK", 2503 },
	{ "VIRT_MACHINE_ID", 2502 },
	{ "VIRT_MIGRATE_IN", 2506 },
	{ "VIRT_MIGRATE_OUT", 2507 },
	{ "VIRT_RESOURCE", 2501 },
};

struct name {
	const char *data;
	size_t len;
};

static int compare_name(const void *key, const void *member)
{
	const struct name *k = key;
	const struct type_row *row = member;
	int c = strncmp(k->data, row->name, k->len);

	return c ? c : (row->name[k->len] ? -1 : 0);
}

/* auditd writes "UNKNOWN[1425]" for a type that its library cannot name; printk writes "1425". */
static int parse_number(const char *p, size_t len)
{
	int v = 0;

	if (len > 9 && !memcmp(p, "UNKNOWN[", 8) && p[len - 1] == ']') {
		p += 8;
		len -= 9;
	}
	if (len == 0 || len > 6)
		return -1;
	for (size_t i = 0; i < len; i++) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		v = v * 10 + (p[i] - '0');
	}
	return v;
}

static int search_type(const char *p, size_t len)
{
	const struct name key = { .data = p, .len = len };
	const struct type_row *row;

	if (len >= sizeof(types[0].name) || memchr(p, 0, len))
		return -1;
	row = bsearch(&key, types, ARRAY_SIZE(types), sizeof(types[0]), compare_name);
	return row ? row->type : parse_number(p, len);
}

int audit_type_number(const char *name, size_t len)
{
	switch (len) {
	case 3:
		if (!memcmp(name, "EOE", 3))
			return AUDIT_EOE;
		break;
	case 4:
		if (!memcmp(name, "PATH", 4))
			return AUDIT_PATH;
		break;
	case 7:
		if (!memcmp(name, "SYSCALL", 7))
			return AUDIT_SYSCALL;
		break;
	case 9:
		if (!memcmp(name, "PROCTITLE", 9))
			return AUDIT_PROCTITLE;
		break;
	default:
		break;
	}
	return search_type(name, len);
}

const char *audit_type_name(int type)
{
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (types[i].type == type)
			return types[i].name;
	return NULL;
}
