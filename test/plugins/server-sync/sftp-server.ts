import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { basename, dirname } from 'node:path/posix'
import ssh2, { type AuthContext, type SFTPWrapper } from 'ssh2'
import type { Test } from 'tap'
import { fingerprintOf } from '../../../plugins/server-sync/ssh/connect.ts'

const { Server, utils } = ssh2
const { OPEN_MODE, STATUS_CODE } = utils.sftp
const [FILE_MODE, FOLDER_MODE] = [0o100644, 0o040755]

/** A file of a device; `mtime` in seconds since 1970. */
export interface DeviceFile { content: Buffer, mtime: number }

export interface DeviceHost {
  host: string
  port: number
  /** Fingerprint of the host key, as `ssh-keygen -lf` prints it. */
  fingerprint: string
  /** The host key in the format of known_hosts. */
  hostKey: string
  /** Files by path. */
  files: Map<string, DeviceFile>
  /** A private key that the host accepts. */
  userKey: string
  /** Number of successful logins. */
  logins: number
  /** Called before a file is read or written; an error becomes the server's response. */
  hook: ((what: 'read' | 'write', path: string) => void) | null
  put (path: string, content: string, mtime?: number): void
  text (path: string): string | undefined
  /** Lists the names in a folder. */
  names (folder: string): string[]
}

interface OpenFile { path: string, content: Buffer, isWritten: boolean }

/** Serves SFTP requests from files in memory. */
function serve (sftp: SFTPWrapper, device: DeviceHost, now: () => number): void {
  const handles = new Map<number, OpenFile | { entries: [string, DeviceFile][] }>()
  let next = 0

  const attrsOf = ({ content, mtime }: DeviceFile) =>
    ({ mode: FILE_MODE, uid: 0, gid: 0, size: content.length, atime: mtime, mtime })
  const isFolder = (path: string) => [...device.files.keys()].some((file) => file.startsWith(`${path}/`))
  function open (handle: OpenFile | { entries: [string, DeviceFile][] }): Buffer {
    const id = Buffer.alloc(4)
    id.writeUInt32BE(next)
    handles.set(next++, handle)
    return id
  }
  const find = (id: Buffer) => handles.get(id.readUInt32BE())
  const refuse = (request: number) => { sftp.status(request, STATUS_CODE.NO_SUCH_FILE) }

  function stat (request: number, path: string): void {
    const file = device.files.get(path)
    if (file !== undefined) sftp.attrs(request, attrsOf(file))
    else if (isFolder(path)) sftp.attrs(request, { mode: FOLDER_MODE, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 })
    else refuse(request)
  }

  function openFile (request: number, path: string, flags: number): void {
    try {
      device.hook?.((flags & OPEN_MODE.WRITE) === 0 ? 'read' : 'write', path)
    } catch {
      sftp.status(request, STATUS_CODE.PERMISSION_DENIED)
      return
    }
    const file = device.files.get(path)
    const isWritten = (flags & OPEN_MODE.WRITE) !== 0
    if ((file === undefined) !== isWritten) return refuse(request)
    sftp.handle(request, open({ path, content: file?.content ?? Buffer.alloc(0), isWritten }))
  }

  sftp.on('STAT', stat).on('LSTAT', stat).on('OPEN', openFile)
  sftp.on('FSTAT', (request, id) => {
    const file = find(id)
    if (file === undefined || !('path' in file)) return refuse(request)
    sftp.attrs(request, attrsOf({ content: file.content, mtime: 0 }))
  })
  sftp.on('READ', (request, id, offset, length) => {
    const file = find(id)
    if (file === undefined || !('path' in file)) return refuse(request)
    const part = file.content.subarray(offset, offset + length)
    if (part.length === 0) sftp.status(request, STATUS_CODE.EOF)
    else sftp.data(request, part)
  })
  sftp.on('WRITE', (request, id, offset, data) => {
    const file = find(id)
    if (file === undefined || !('path' in file)) return refuse(request)
    const content = Buffer.alloc(Math.max(file.content.length, offset + data.length))
    file.content.copy(content)
    data.copy(content, offset)
    file.content = content
    sftp.status(request, STATUS_CODE.OK)
  })
  sftp.on('CLOSE', (request, id) => {
    const file = find(id)
    if (file !== undefined && 'path' in file && file.isWritten) {
      device.files.set(file.path, { content: file.content, mtime: now() })
    }
    handles.delete(id.readUInt32BE())
    sftp.status(request, STATUS_CODE.OK)
  })
  sftp.on('OPENDIR', (request, path) => {
    if (!isFolder(path)) return refuse(request)
    sftp.handle(request, open({ entries: [...device.files].filter(([file]) => dirname(file) === path) }))
  })
  sftp.on('READDIR', (request, id) => {
    const folder = find(id)
    if (folder === undefined || !('entries' in folder)) return refuse(request)
    const names = folder.entries.splice(0).map(([path, file]) =>
      ({ filename: basename(path), longname: basename(path), attrs: attrsOf(file) }))
    if (names.length === 0) sftp.status(request, STATUS_CODE.EOF)
    else sftp.name(request, names)
  })
  sftp.on('RENAME', (request, from, to) => {
    const file = device.files.get(from)
    // The protocol forbids a rename over an existing file.
    if (file === undefined || device.files.has(to)) {
      sftp.status(request, STATUS_CODE.FAILURE)
      return
    }
    device.files.delete(from)
    device.files.set(to, file)
    sftp.status(request, STATUS_CODE.OK)
  })
  sftp.on('REMOVE', (request, path) => {
    if (device.files.delete(path)) sftp.status(request, STATUS_CODE.OK)
    else refuse(request)
  })
}

/** Generates a key pair, with the parsed public key. */
function makeKeys () {
  for (;;) {
    const { private: secret, public: shown } = utils.generateKeyPairSync('ed25519')
    const read = utils.parseKey(shown)
    // For one key in 256 the generator mistakes a leading zero byte for padding and writes an invalid key; retry then.
    if (!(read instanceof Error)) return { secret, shown: (Array.isArray(read) ? read[0] : read) as ssh2.ParsedKey }
  }
}

export interface DeviceHostOptions { username?: string, password?: string }

/** Starts a real SSH server on loopback as a device, with files in memory. */
export async function startDeviceHost (
  t: Pick<Test, 'teardown'>, { username = 'deck', password = 'let me in' }: DeviceHostOptions = {}
): Promise<DeviceHost> {
  const [host, user] = [makeKeys(), makeKeys()]
  let clock = 2_000_000_000

  function mayEnter (context: AuthContext): boolean {
    if (context.username !== username) return false
    if (context.method === 'password') return context.password === password
    if (context.method !== 'publickey' || !context.key.data.equals(user.shown.getPublicSSH())) return false
    const { signature, blob = Buffer.alloc(0), hashAlgo } = context
    return signature === undefined || user.shown.verify(blob, signature, hashAlgo) === true
  }

  const server = new Server({ hostKeys: [host.secret] }, (client) => {
    clients.add(client)
    client.on('error', () => { /* the connection was cut */ })
    client.on('close', () => { clients.delete(client) })
    client.on('authentication', (context) => {
      if (mayEnter(context)) context.accept()
      else context.reject(['password', 'publickey'])
    })
    client.on('ready', () => {
      device.logins++
      client.on('session', (accept) => { accept().on('sftp', (open) => { serve(open(), device, () => clock++) }) })
    })
  })
  const clients = new Set<ssh2.Connection>()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const client of clients) client.end()
    server.close()
  })
  const device: DeviceHost = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    fingerprint: fingerprintOf(host.shown.getPublicSSH()),
    hostKey: host.shown.getPublicSSH().toString('base64'),
    files: new Map(),
    userKey: user.secret,
    logins: 0,
    hook: null,
    put (path, content, mtime = clock++) { device.files.set(path, { content: Buffer.from(content), mtime }) },
    text: (path) => device.files.get(path)?.content.toString(),
    names: (folder) =>
      [...device.files.keys()].filter((path) => dirname(path) === folder).map((path) => basename(path)).sort()
  }
  return device
}
