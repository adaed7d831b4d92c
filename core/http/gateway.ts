import { type AddressRules, isGlobalHost, originOf } from './addresses.ts'

/** Where requests are sent, whatever they ask for. */
export interface Route {
  /** The rules for connections. */
  rules: AddressRules
  /** What is connected to in place of an address. */
  target (url: URL): URL
}

/**
 * Sends what goes to the public internet to a gateway, whose path begins with the host that is meant:
 * `https://api.example.com/games?id=1` becomes `<gateway>/api.example.com/games?id=1`. What an administrator
 * has in the local network is still asked directly.
 *
 * @param gateway an http(s) address; null sends everything where it belongs
 */
export function createRoute (rules: AddressRules, gateway: string | null): Route {
  if (gateway === null) return { rules, target: (url) => url }
  const base = gateway.replace(/\/+$/, '')
  return {
    rules: { ...rules, trustedOrigins: [...rules.trustedOrigins ?? [], originOf(base)] },
    target: (url) => isGlobalHost(url.hostname) ? new URL(`${base}/${url.host}${url.pathname}${url.search}`) : url
  }
}
