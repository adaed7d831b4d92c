/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Read by `svc user`; no setting of the server. */
export const NEW_PASSWORD_VARIABLE = 'SVC_NEW_PASSWORD'

/** What the operating system and the programs and libraries below this server read by themselves. */
const SYSTEM_NAMES = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'LANG', 'LANGUAGE', 'TZ', 'TZDIR', 'TERM', 'COLORTERM',
  'CI', 'DEBUG', 'TMP', 'TEMP', 'TMPDIR', 'HOSTNAME', 'NOTIFY_SOCKET', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY',
  'NO_COLOR', 'FORCE_COLOR', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF',
  // Windows
  'SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'OS', 'USERPROFILE', 'USERNAME', 'USERDOMAIN', 'COMPUTERNAME',
  'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'ALLUSERSPROFILE', 'PUBLIC'])
/** Whole families of them: of the linker, the C library, the threads below Node, Node, npm and PostgreSQL's client. */
const SYSTEM_FAMILY = /^(?:LC_|LD_|NSS_WRAPPER_|DYLD_|MALLOC_|GLIBC_|UV_|VIPS_|XDG_|NODE_|NPM_|PROCESSOR_|NUMBER_OF_PROCESSORS$|PG[A-Z]+$)/

/** Whether a variable belongs to the system rather than to the server or a plugin. Windows knows no case. */
export function isSystemVariable (name: string): boolean {
  const upper = name.toUpperCase()
  return SYSTEM_NAMES.has(upper) || SYSTEM_FAMILY.test(upper)
}

let settings: Environment = process.env

/** The variables that settings are read from: those of the process, or what was taken out of them. */
export const settingsEnvironment = (): Environment => settings

/** Has settings read from these: what the process that started this one took. */
export function useSettings (given: Environment): void {
  settings = given
}

/**
 * Takes every variable that is not the system's out of the process, for settings alone: neither a program that this one
 * starts nor code that looks into `process.env` finds a secret there.
 */
export function removeSettings (): void {
  settings = { ...process.env }
  for (const name of Object.keys(settings)) {
    if (!isSystemVariable(name)) Reflect.deleteProperty(process.env, name)
  }
}
