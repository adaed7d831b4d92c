import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import {
  type AddressRules, createLookup, isGlobalAddress, isTrusted, joinOrigin, refuseAddress, resolveName
} from './addresses.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Node's default of 250 ms gives up on IPv4 too early if IPv6 is broken and the line is slow. */
const FAMILY_ATTEMPT_TIMEOUT_MS = 1_000

const CONNECTIONS_PER_ORIGIN = 32

/**
 * Creates the `connect` option of an undici Agent. A name is resolved once, inside the connection, and refused with
 * AddressRefusedError if any of its addresses is not global. The connection goes to the checked addresses.
 */
export function createConnector (rules: AddressRules): buildConnector.connector {
  const { resolve = resolveName } = rules
  const options = {
    timeout: CONNECT_TIMEOUT_MS,
    autoSelectFamilyAttemptTimeout: FAMILY_ATTEMPT_TIMEOUT_MS,
    allowH2: false
  }
  const connectAnywhere = buildConnector({ ...options, lookup: createLookup(resolve, () => true) })
  const connectGlobal = buildConnector({ ...options, lookup: createLookup(resolve, isGlobalAddress) })
  return (target, callback) => {
    const hostname = target.hostname.replace(/^\[|\]$/g, '')
    const origin = joinOrigin(hostname, target.port, target.protocol)
    if (isTrusted(origin, rules)) return connectAnywhere(target, callback)
    // IP addresses in URLs never reach the lookup, so they are checked here.
    if (isIP(hostname) !== 0 && !isGlobalAddress(hostname)) return callback(refuseAddress(origin), null)
    connectGlobal(target, callback)
  }
}

export const createAgent = (rules: AddressRules): Agent =>
  new Agent({ connect: createConnector(rules), connections: CONNECTIONS_PER_ORIGIN })
