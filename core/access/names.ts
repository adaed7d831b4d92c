import type { Config } from '../config/config.ts'

type Cookies = Readonly<Record<string, string | undefined>>

/** Returns the names of a cookie: its own, and that of RomM if pages made for RomM need it. */
export function cookieNames (kind: 'session' | 'csrftoken', config: Config): string[] {
  return config.server.romm_names ? [`svc_${kind}`, `romm_${kind}`] : [`svc_${kind}`]
}

/** Returns the values of all cookies with any of these names. */
export const readCookies = (cookies: Cookies, names: readonly string[]): string[] =>
  names.flatMap((name) => cookies[name] || [])

/** Returns the allowed prefixes of client API tokens; new tokens get the first one. */
export function tokenPrefixes ({ auth, server }: Config): [string, ...string[]] {
  return server.romm_names ? ['rmm_', 'svc_', ...auth.token_prefixes] : ['svc_', ...auth.token_prefixes]
}
