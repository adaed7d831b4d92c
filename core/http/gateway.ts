import { type AddressRules, isGlobalHost, originOf } from './addresses.ts'

/** The way of requests to their hosts: directly or through a gateway. */
export interface Route {
  /** The rules for connections. */
  rules: AddressRules
  /** Returns the URL to connect to in place of the given one. */
  target (url: URL): URL
}

/**
 * Creates a route that sends requests for the public internet to a gateway, whose path begins with the real host:
 * `https://api.example.com/games?id=1` becomes `<gateway>/api.example.com/games?id=1`. Requests to trusted hosts in the
 * local network are still sent directly.
 *
 * @param gateway an http(s) address; null sends all requests directly
 */
export function createRoute (rules: AddressRules, gateway: string | null): Route {
  if (gateway === null) return { rules, target: (url) => url }
  const base = gateway.replace(/\/+$/, '')
  return {
    rules: { ...rules, get trustedOrigins () { return [...rules.trustedOrigins ?? [], originOf(base)] } },
    target: (url) => isGlobalHost(url.hostname) ? new URL(`${base}/${url.host}${url.pathname}${url.search}`) : url
  }
}
