import { hash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { type Socket, connect, isIP } from 'node:net'
import { once } from 'node:events'
import proxyAddr from '@fastify/proxy-addr'
import type { SFTPWrapper } from 'ssh2'
import { AddressRefusedError, createLookup, isGlobalAddress } from '../../../core/http/addresses.ts'
import { ApiError, badRequest } from '../../../core/errors.ts'
import type { SshSettings } from './settings.ts'

const READY_MS = 20_000
const ALIVE_MS = 10_000
const FAMILY_ATTEMPT_TIMEOUT_MS = 1_000

/** Returns the fingerprint of a key, as `ssh-keygen -lf` prints it. */
export const fingerprintOf = (key: Buffer): string => `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`

/** Allowed hosts, and the keys that identify them. */
export interface HostRules {
  /** True if the device's owner administers the server and may reach its network. */
  is_admin: boolean
  /** Networks that the devices of all users may be in. */
  networks: readonly string[]
  /** Base64 keys, one of which the host must present; empty for a host without known keys. */
  known_keys: readonly string[]
}

export interface SshConnection {
  sftp: SFTPWrapper
  /** Fingerprint of the key that the host presented. */
  fingerprint: string
  isOpen (): boolean
  end (): void
}

/** Opens a socket to a host. The name is resolved inside the connection, and each of its addresses is checked. */
async function openSocket ({ host, port }: SshSettings, rules: HostRules, signal: AbortSignal): Promise<Socket> {
  const isInNetworks = proxyAddr.compile([...rules.networks])
  const isAllowed = (address: string) => rules.is_admin || isGlobalAddress(address) || isInNetworks(address, 0)
  const refused = () => badRequest(`The host '${host}' is not in the public internet and is refused; an administrator ` +
    'can allow its network with SYNC_SSH_NETWORKS')
  if (isIP(host) !== 0 && !isAllowed(host)) throw refused()
  const socket = connect({
    host, port, noDelay: true, lookup: createLookup((name) => lookup(name, { all: true }), isAllowed),
    autoSelectFamily: true, autoSelectFamilyAttemptTimeout: FAMILY_ATTEMPT_TIMEOUT_MS
  })
  try {
    await once(socket, 'connect', { signal: AbortSignal.any([signal, AbortSignal.timeout(READY_MS)]) })
    return socket
  } catch (err) {
    socket.destroy()
    throw err instanceof AddressRefusedError ? refused() : err
  }
}

const isKnown = ({ host_key: pinned }: SshSettings, { known_keys: keys }: HostRules, key: Buffer): boolean =>
  keys.length > 0 ? keys.includes(key.toString('base64')) : pinned === null || pinned === fingerprintOf(key)

const otherKey = (host: string, fingerprint: string) => badRequest(`The host '${host}' has the key ${fingerprint}, which ` +
  'is not its known key. If the host was installed again, clear ssh_host_key in the sync_config of the device, or correct known_hosts')

/**
 * Opens an SFTP session.
 *
 * @throws Error if the host is unreachable, refused, has another key or rejects the login
 */
export async function connectSsh (
  settings: SshSettings, rules: HostRules, signal: AbortSignal
): Promise<SshConnection> {
  const { host, username, password, privateKey, passphrase } = settings
  // Loaded on demand: two megabytes in each process, and few servers need it.
  const { Client } = await import('ssh2')
  const sock = await openSocket(settings, rules, signal)
  const tx = new Client()
  let shown: Buffer | null = null
  let isOpen = true
  tx.on('close', () => { isOpen = false })
  // A running operation gets the error as well.
  tx.on('error', () => { isOpen = false })
  signal.addEventListener('abort', () => { tx.destroy() }, { once: true })
  try {
    const ready = once(tx, 'ready', { signal })
    // An error before the await must not become an unhandled rejection; the await below throws it.
    ready.catch(() => {})
    tx.connect({
      sock,
      username,
      readyTimeout: READY_MS,
      keepaliveInterval: ALIVE_MS,
      ...(password === undefined ? {} : { password }),
      ...(privateKey === undefined ? {} : { privateKey }),
      ...(passphrase === undefined ? {} : { passphrase }),
      hostVerifier: (key: Buffer) => {
        shown = key
        return isKnown(settings, rules, key)
      }
    })
    await ready
    const sftp = await new Promise<SFTPWrapper>((resolve, reject) => {
      tx.sftp((err, opened) => { if (err === undefined) resolve(opened); else reject(err) })
    })
    return {
      sftp,
      fingerprint: fingerprintOf(shown ?? Buffer.alloc(0)),
      isOpen: () => isOpen,
      end () {
        tx.end()
        sock.destroySoon()
      }
    }
  } catch (err) {
    tx.destroy()
    // If the client refused its settings, the socket was not the client's yet.
    sock.destroy()
    signal.throwIfAborted()
    if (shown !== null && !isKnown(settings, rules, shown)) throw otherKey(host, fingerprintOf(shown))
    throw new ApiError('UNAVAILABLE', `Connecting to '${host}' failed: ${err instanceof Error ? err.message : String(err)}`,
      { cause: err })
  }
}
