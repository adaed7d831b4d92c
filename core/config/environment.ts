/** Variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Read by the command `svc user`; not a setting of the server. */
export const NEW_PASSWORD_VARIABLE = 'SVC_NEW_PASSWORD'

/** Variables that the operating system and the programs and libraries below this server read. */
const SYSTEM_NAMES = new Set(['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'PWD', 'LANG', 'LANGUAGE', 'TZ', 'TZDIR', 'TERM', 'COLORTERM',
  'CI', 'DEBUG', 'TMP', 'TEMP', 'TMPDIR', 'HOSTNAME', 'NOTIFY_SOCKET', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY',
  'NO_COLOR', 'FORCE_COLOR', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'OPENSSL_CONF',
  // Windows
  'SYSTEMROOT', 'SYSTEMDRIVE', 'WINDIR', 'COMSPEC', 'PATHEXT', 'OS', 'USERPROFILE', 'USERNAME', 'USERDOMAIN', 'COMPUTERNAME',
  'HOMEDRIVE', 'HOMEPATH', 'APPDATA', 'LOCALAPPDATA', 'PROGRAMDATA', 'PROGRAMFILES', 'ALLUSERSPROFILE', 'PUBLIC'])
/**
 * Families of system variables: of the linker, the C library, the threads below Node, Node, npm and PostgreSQL's
 * client.
 */
const SYSTEM_FAMILY = /^(?:LC_|LD_|NSS_WRAPPER_|DYLD_|MALLOC_|GLIBC_|UV_|VIPS_|XDG_|NODE_|NPM_|PROCESSOR_|NUMBER_OF_PROCESSORS$|PG[A-Z]+$)/

/** True if a variable belongs to the system, not to the server or a plugin. Variable names have no case on Windows. */
export function isSystemVariable (name: string): boolean {
  const upper = name.toUpperCase()
  return SYSTEM_NAMES.has(upper) || SYSTEM_FAMILY.test(upper)
}

let settings: Environment = process.env

/** Returns the variables that settings are read from: those of the process, or those removed from the process. */
export const settingsEnvironment = (): Environment => settings

/** Replaces the variables that settings are read from by those that the parent process removed from its own. */
export function setSettings (variables: Environment): void {
  settings = variables
}

/**
 * Removes every variable that is not a system variable from `process.env`; only settings can still read them. Programs
 * that this process starts, and code that reads `process.env`, find no secret there.
 */
export function removeSettings (): void {
  settings = { ...process.env }
  for (const name of Object.keys(settings)) {
    if (!isSystemVariable(name)) Reflect.deleteProperty(process.env, name)
  }
}
