import ipaddr from 'ipaddr.js'

/** Whose tries are counted together: an IPv4 address, or the /64 that is the least an IPv6 customer is given. */
export function networkOf (address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed instanceof ipaddr.IPv4) return parsed.toString()
  return `${parsed.parts.slice(0, 4).map((part) => part.toString(16)).join(':')}::/64`
}
