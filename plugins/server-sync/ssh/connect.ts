import { hash } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { type Socket, connect, isIP } from 'node:net'
import { once } from 'node:events'
import proxyAddr from '@fastify/proxy-addr'
import type { SFTPWrapper } from 'ssh2'
import { AddressRefusedError, createLookup, isGlobalAddress } from '../../../core/http/addresses.ts'
import { badRequest } from '../../../core/errors.ts'
import type { SshSettings } from './settings.ts'

const READY_MS = 20_000
const ALIVE_MS = 10_000
const FAMILY_ATTEMPT_TIMEOUT_MS = 1_000

/** As `ssh-keygen -lf` prints it. */
export const fingerprintOf = (key: Buffer): string => `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`

/** Who may be connected to, and how it is known that it is them. */
export interface HostRules {
  /** Whether the device's owner administers the server, and may reach its network. */
  is_admin: boolean
  /** Networks that everybody's devices may be in. */
  networks: readonly string[]
  /** In base64, one of which the host has to show; empty for a host that nobody named. */
  known_keys: readonly string[]
}

export interface SshConnection {
  sftp: SFTPWrapper
  /** Of the key that the host showed. */
  fingerprint: string
  isOpen (): boolean
  end (): void
}

/** The name is looked up inside the connection, and every address that it has is checked. */
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

const otherKey = (host: string, fingerprint: string) => badRequest(`The host '${host}' shows the key ${fingerprint}, which ` +
  'is not the one that it is known by. If it was set up anew, clear ssh_host_key in the sync_config of the device, or correct known_hosts')

/**
 * Opens a session of SFTP.
 *
 * @throws Error when the host cannot be reached, may not be, is another than before, or does not let the server in
 */
export async function connectSsh (
  settings: SshSettings, rules: HostRules, signal: AbortSignal
): Promise<SshConnection> {
  const { host, username, password, privateKey, passphrase } = settings
  // Two megabytes in each process, which hardly any server needs.
  const { Client } = await import('ssh2')
  const sock = await openSocket(settings, rules, signal)
  const client = new Client()
  let shown: Buffer | null = null
  let isOpen = true
  client.on('close', () => { isOpen = false })
  // Whatever is under way hears of it too.
  client.on('error', () => { isOpen = false })
  signal.addEventListener('abort', () => { client.destroy() }, { once: true })
  try {
    const ready = once(client, 'ready', { signal })
    // What goes wrong before it is waited for is thrown below.
    ready.catch(() => {})
    client.connect({
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
      client.sftp((err, opened) => { if (err === undefined) resolve(opened); else reject(err) })
    })
    return {
      sftp,
      fingerprint: fingerprintOf(shown ?? Buffer.alloc(0)),
      isOpen: () => isOpen,
      end () {
        client.end()
        sock.destroySoon()
      }
    }
  } catch (err) {
    client.destroy()
    // It was not the client's yet when its settings were refused.
    sock.destroy()
    signal.throwIfAborted()
    if (shown !== null && !isKnown(settings, rules, shown)) throw otherKey(host, fingerprintOf(shown))
    throw new Error(`Connecting to '${host}' failed: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
  }
}
