import { isIP } from 'node:net'
import { Agent, buildConnector } from 'undici'
import {
  type AddressRules, createLookup, isGlobalAddress, isTrusted, joinOrigin, refusal, resolveName
} from './addresses.ts'

const CONNECT_TIMEOUT_MS = 10_000

/** Node's 250 ms give up on IPv4 too early where IPv6 is broken and the line is slow. */
const FAMILY_ATTEMPT_TIMEOUT_MS = 1_000

const CONNECTIONS_PER_ORIGIN = 32

/**
 * The `connect` option of an undici Agent. A name is resolved once, inside the connection, and refused with
 * AddressRefusedError when any of its addresses is not global; the connection goes to the addresses that were checked.
 */
export function createConnector (rules: AddressRules = {}): buildConnector.connector {
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
    // Addresses are never looked up, so they are checked here.
    if (isIP(hostname) !== 0 && !isGlobalAddress(hostname)) return callback(refusal(origin), null)
    connectGlobal(target, callback)
  }
}

export const createAgent = (rules: AddressRules): Agent =>
  new Agent({ connect: createConnector(rules), connections: CONNECTIONS_PER_ORIGIN })
