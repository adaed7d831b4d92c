import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { FileEntryWithStats, SFTPWrapper, Stats } from 'ssh2'
import { ApiError, conflict } from '../../../core/errors.ts'
import type { DeviceSave, Transport } from '../transport.ts'
import type { SshConnection } from './connect.ts'
import type { SaveDirectory } from './settings.ts'

type SftpCallback<T> = (err: Error | null | undefined, value: T) => void

const SECONDS = 1_000

async function call<T> (run: (done: SftpCallback<T>) => void): Promise<T> {
  return await new Promise((resolve, reject) => {
    run((err, value) => {
      if (err === null || err === undefined) resolve(value)
      else reject(err)
    })
  })
}

/** Runs a call without a result. */
const runCall = (run: (done: (err?: Error | null) => void) => void): Promise<void> =>
  call<undefined>((done) => { run((err) => { done(err, undefined) }) })

/**
 * Replaces a file by a rename. Some servers lack the atomic rename; the former file is then moved aside until the new
 * one is in place.
 */
async function replace (sftp: SFTPWrapper, from: string, to: string): Promise<void> {
  const rename = (source: string, target: string) => runCall((done) => { sftp.rename(source, target, done) })
  try {
    await runCall((done) => { sftp.ext_openssh_rename(from, to, done) })
  } catch {
    const formerPath = `${from}.old`
    const isMoved = await rename(to, formerPath).then(() => true, () => false)
    try {
      await rename(from, to)
    } catch (err) {
      if (isMoved) await rename(formerPath, to)
      throw err
    }
    if (isMoved) await runCall((done) => { sftp.unlink(formerPath, done) })
  }
}

const stat = async (sftp: SFTPWrapper, path: string): Promise<Stats | null> =>
  await call<Stats>((done) => { sftp.stat(path, done) }).catch(() => null)

async function listDirectory (sftp: SFTPWrapper, { platform, path, extension }: SaveDirectory): Promise<DeviceSave[]> {
  const entries = await call<FileEntryWithStats[]>((done) => { sftp.readdir(path, done) }).catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new ApiError('UNAVAILABLE', `The folder '${path}' cannot be listed: ${reason}`, { cause })
  })
  return entries.flatMap(({ filename: name, attrs }) => {
    const isWanted = attrs.isFile() && !name.startsWith('.') && !name.includes('/') && name.endsWith(extension)
    if (!isWanted) return []
    return [{
      platform, file_name: name, file_size_bytes: attrs.size, changed_at: attrs.mtime * SECONDS, path: `${path}/${name}`
    }]
  })
}

async function isSame (
  sftp: SFTPWrapper, { path, file_size_bytes: size, changed_at: changed }: DeviceSave
): Promise<boolean> {
  const found = await stat(sftp, path)
  return found !== null && found.size === size && found.mtime * SECONDS === changed
}

/** Writes content to a temporary file in the same folder first, because the target must never be incomplete. */
async function write (sftp: SFTPWrapper, path: string, content: Readable, check: () => Promise<void>): Promise<void> {
  const part = `${path.slice(0, path.lastIndexOf('/'))}/.svc-${randomUUID()}.part`
  try {
    await pipeline(content, sftp.createWriteStream(part, { flags: 'wx', mode: 0o644 }))
    await check()
    await replace(sftp, part, path)
  } catch (err) {
    await runCall((done) => { sftp.unlink(part, done) }).catch(() => {})
    throw err
  }
}

/** Creates a transport for the folders of a device over SFTP; subfolders are ignored. */
export function createSshTransport (
  { sftp, isOpen, end }: SshConnection, directories: readonly SaveDirectory[]
): Transport {
  return {
    offersMissing: true,
    isOpen,
    isSame: (save) => isSame(sftp, save),
    close: async () => { end() },
    async open ({ path }) {
      const stream = sftp.createReadStream(path)
      // A stream that fails before its first read would otherwise report no error.
      await once(stream, 'open')
      const content = new PassThrough()
      void pipeline(stream, content).catch(() => { /* the reader gets the error */ })
      return content
    },

    async list () {
      const saves: DeviceSave[] = []
      for (const directory of directories) saves.push(...await listDirectory(sftp, directory))
      return saves
    },

    async write ({ platforms, file_name: name, replaces }, content) {
      if (replaces !== null) {
        await write(sftp, replaces.path, content, async () => {
          if (!await isSame(sftp, replaces)) throw conflict('it changed on the device during the sync; the next sync transfers it')
        })
        return true
      }
      const directory = directories.find(({ platform, extension }) =>
        platforms.includes(platform) && name.endsWith(extension))
      if (directory === undefined || name.includes('/')) return false
      const path = `${directory.path}/${name}`
      if (await stat(sftp, path) !== null) return false
      await write(sftp, path, content, async () => {
        if (await stat(sftp, path) !== null) throw conflict('it appeared on the device during the sync; the next sync transfers it')
      })
      return true
    }
  }
}
