import type { LookupAddress, LookupOptions } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The address lies in a network that outgoing requests may not reach. A retry does not help. */
export class AddressRefusedError extends Error {
  override readonly name = 'AddressRefusedError'
}

/** Returns all addresses of a name, as `dns.promises.lookup(name, { all: true })` does. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>

export interface AddressRules {
  /** Exact `host:port` pairs that the operator or an administrator configured; these may lie in the local network. */
  trustedOrigins?: readonly string[]
  /** Lets every address through: for tests and for networks without anything to protect. */
  allowPrivate?: boolean
  /** Replaces the system's resolver. */
  resolve?: Resolve
  /** The only hosts of the public internet that may be reached, with `*.` for all subdomains; by default all. */
  hosts?: readonly string[] | undefined
}

const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3')
const NAT64 = ipaddr.parseCIDR('64:ff9b::/96')

/** Names that mean "here" or "this network": RFC 6761, 6762, 8375, 9476 and the names that routers assign. */
const LOCAL_SUFFIXES = ['localhost', 'localdomain', 'local', 'internal', 'intranet', 'private', 'corp', 'home', 'lan',
  'home.arpa']

/**
 * True if an address belongs to one machine in the public internet, after the IANA special-purpose registries. IPv4
 * inside IPv6 (`::ffff:0:0/96`, and `64:ff9b::/96` of RFC 6052) counts as the IPv4 address it carries; older tunnels
 * such as 6to4 and Teredo are never global. Anything but a plain address is not global.
 */
export function isGlobalAddress (address: string): boolean {
  if (isIP(address) === 0 || address.includes('%')) return false
  // Normalised as in the URL standard, because the library wrongly takes `::1.2.3.4` for a mapped address.
  const written = isIP(address) === 6 ? new URL(`http://[${address}]/`).hostname.slice(1, -1) : address
  const parsed = ipaddr.parse(written)
  if (parsed instanceof ipaddr.IPv4) return parsed.range() === 'unicast'
  if (parsed.isIPv4MappedAddress()) return parsed.toIPv4Address().range() === 'unicast'
  if (parsed.match(NAT64)) return new ipaddr.IPv4(parsed.toByteArray().slice(12)).range() === 'unicast'
  return parsed.range() === 'unicast' && parsed.match(GLOBAL_IPV6)
}

/**
 * True if a host, as written in a URL, looks public. Its resolved addresses are checked when connecting. IPv6 addresses
 * may be in brackets. Numbers that are no plain address (`2130706433`, `0x7f.1`, `0177.0.0.1`) and names without a dot
 * are refused.
 */
export function isGlobalHost (host: string): boolean {
  if (/[\s\p{C}/\\?#@%]/u.test(host)) return false
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (isIP(bare) !== 0) return isGlobalAddress(bare)
  if (host.includes(':') || !URL.canParse(`http://${host}/`)) return false
  const name = new URL(`http://${host}/`).hostname.replace(/\.$/, '')
  return isIP(name) === 0 && isGlobalName(name)
}

function isGlobalName (name: string): boolean {
  const labels = name.split('.')
  if (labels.length < 2 || name.length > 253) return false
  if (labels.some((label) => label === '' || label.length > 63)) return false
  return !LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
}

/** Returns the exact `host:port` of a URL, the form of `trustedOrigins`. @throws TypeError if `url` is no URL. */
export function originOf (url: string | URL): string {
  const { hostname, port, protocol } = typeof url === 'string' ? new URL(url) : url
  return joinOrigin(hostname, port, protocol)
}

export function joinOrigin (hostname: string, port: string, protocol: string): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return `${host.toLowerCase()}:${port === '' ? (protocol === 'https:' ? '443' : '80') : port}`
}

/** True if one of `names` is the host, or is `*.` and a parent domain of it. */
function isNamed (host: string, names: readonly string[]): boolean {
  return names.some((name) => name.startsWith('*.') ? host.endsWith(name.slice(1)) : name === host)
}

/**
 * Checks a URL before a request.
 *
 * @throws AddressRefusedError if the scheme is not http or https, if the host is local and not trusted, or if it is not
 * in `hosts`.
 */
export function checkUrl (url: URL, rules: AddressRules = {}): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new AddressRefusedError(`The address '${url.protocol}//${url.host}' is refused: use http or https`)
  }
  if (isTrusted(originOf(url), rules)) return
  if (!isGlobalHost(url.hostname)) throw refuseAddress(originOf(url))
  if (rules.hosts !== undefined && !isNamed(url.hostname, rules.hosts)) {
    throw new AddressRefusedError(`The host '${url.hostname}' is refused, because the plugin does not declare it: ` +
      'its author has to add it to "svc.hosts" of its package.json')
  }
}

export function isTrusted (origin: string, { allowPrivate = false, trustedOrigins = [] }: AddressRules): boolean {
  return allowPrivate || trustedOrigins.some((trusted) => trusted.toLowerCase() === origin)
}

export function refuseAddress (origin: string, address?: string): AddressRefusedError {
  const found = address === undefined ? '' : `, which is '${address}',`
  return new AddressRefusedError(`The address '${origin}'${found} is not in the public internet and is refused: ` +
    'use a public address, or let an administrator configure exactly this host and port')
}

/**
 * Creates a `lookup` for node:net which fails with AddressRefusedError if `isAllowed` refuses any address of the name.
 * One good address among bad ones is how an attacker redirects a name into the local network after the check (DNS
 * rebinding).
 */
export function createLookup (resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname).then((answers) => {
      const bad = answers.find(({ address }) => !isAllowed(address))
      if (bad !== undefined) throw refuseAddress(hostname, bad.address)
      return pickAddresses(hostname, answers, options)
    }).then((answers) => {
      if (options.all === true) callback(null, answers)
      else callback(null, answers[0].address, answers[0].family)
    }, (err: Error) => callback(err, ''))
  }
}

function pickAddresses (hostname: string, answers: readonly LookupAddress[], { family }: LookupOptions) {
  const family4or6 = family === 4 || family === 'IPv4' ? 4 : family === 6 || family === 'IPv6' ? 6 : null
  const [first, ...rest] = answers.filter((answer) => family4or6 === null || answer.family === family4or6)
  if (first === undefined) throw new Error(`The name '${hostname}' has no address; check its spelling`)
  return [first, ...rest] satisfies [LookupAddress, ...LookupAddress[]]
}

export function resolveName (hostname: string): Promise<LookupAddress[]> {
  return lookup(hostname, { all: true })
}
