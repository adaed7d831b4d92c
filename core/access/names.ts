import type { Config } from '../config/config.ts'

type Cookies = Readonly<Record<string, string | undefined>>

/** What a cookie is called: by its own name, and by that of RomM where pages made for it are to find it. */
export function cookieNames (kind: 'session' | 'csrftoken', config: Config): string[] {
  return config.server.romm_names ? [`svc_${kind}`, `romm_${kind}`] : [`svc_${kind}`]
}

/** The values that came under any of these names. */
export const readCookies = (cookies: Cookies, names: readonly string[]): string[] =>
  names.flatMap((name) => cookies[name] || [])

/** How client API tokens may begin; new ones begin with the first. */
export function tokenPrefixes ({ auth, server }: Config): [string, ...string[]] {
  return server.romm_names ? ['rmm_', 'svc_', ...auth.token_prefixes] : ['svc_', ...auth.token_prefixes]
}
