import type { Logger } from '@svc/plugin-sdk'
import { AddressRefusedError, type AddressRules, checkUrl } from '../../http/addresses.ts'

/** The most hosts that one plugin's warnings name, because a plugin may invent any number. */
const WARNINGS_MAX = 100

/** The addresses from which the server downloads a plugin's media. */
export type MediaRules = Pick<AddressRules, 'hosts' | 'trustedOrigins'>

const hostOf = (url: string) => /^https?:/i.test(url) ? URL.parse(url)?.host : undefined

/**
 * Creates the function that tells whether media of a plugin may come from a URL. It warns once about each refused host.
 * Without this rule a plugin could send data to any server, as part of URLs that the server downloads.
 */
export function createMediaCheck (plugin: string, rules: MediaRules, log: Pick<Logger, 'warn'>): (url: string) => boolean {
  const refused = new Set<string>()
  return (url) => {
    const host = hostOf(url)
    if (host === undefined || rules.hosts === undefined) return true
    try {
      checkUrl(new URL(url), rules)
      return true
    } catch (err) {
      if (!(err instanceof AddressRefusedError)) throw err
      if (!refused.has(host) && refused.size < WARNINGS_MAX) {
        refused.add(host)
        log.warn({ plugin, host, reason: err.message }, 'media of this plugin are skipped')
      }
      return false
    }
  }
}
