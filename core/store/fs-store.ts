import { randomUUID } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { createFolder } from '../files/create-folder.ts'
import { ifPresent, isNotFoundError } from '../files/fs-error.ts'
import { requireFreeSpace } from '../files/free-space.ts'
import { PathRefusedError, isNothingThere, openInside, resolveInside } from '../files/safe-path.ts'
import { syncFolder } from '../files/sync-folder.ts'
import { checkSize, requireKey } from './store-key.ts'
import type { FolderNames, ObjectFacts, ObjectSource, Store, StoredObject } from './store.ts'

const FREE_CHECK_BYTES = 64 * 1024 ** 2
const UNFINISHED = /^\.[0-9a-f-]{36}\.tmp$/

/** Creates a folder and syncs its parents, because a new folder must survive a power cut. */
export async function makeFolder (path: string): Promise<void> {
  const first = await createFolder(path)
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

async function writeAll (handle: FileHandle, folder: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  let unchecked = FREE_CHECK_BYTES
  for await (const chunk of content) {
    unchecked += chunk.length
    if (unchecked >= FREE_CHECK_BYTES) {
      await requireFreeSpace(folder, chunk.length)
      unchecked = 0
    }
    await handle.writeFile(chunk)
  }
  await handle.sync()
}

/** Returns the result of `work`, or null if the path does not exist. */
async function orNull<T> (work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (err) {
    if (isNothingThere(err)) return null
    throw err
  }
}

async function toObject (key: string, handle: FileHandle): Promise<StoredObject> {
  const { ino, size, mtimeNs, mtime } = await handle.stat({ bigint: true })
  return {
    key,
    size: Number(size),
    modifiedAt: mtime,
    version: [ino, size, mtimeNs].map((part) => part.toString(36)).join('-'),
    handle,
    // A stream of a file cannot be empty, because its end is included.
    read: (start, end) => start < end
      ? handle.createReadStream({ autoClose: false, start, end: end - 1 })
      : Readable.from([]),
    close: () => handle.close()
  }
}

/**
 * Splits a key after its first name. That folder may be a link to another disk, and everything below must stay inside
 * it.
 */
function splitKey (root: string, key: string): { base: string, path: string } {
  const [first = '', ...rest] = requireKey(key).split('/')
  if (rest.length === 0) throw new PathRefusedError(key, 'it names a folder')
  return { base: join(root, first), path: rest.join('/') }
}

/** Moves a complete file to its final path. */
async function moveFile (from: string, root: string, key: string): Promise<void> {
  const { base, path } = splitKey(root, key)
  await makeFolder(dirname(join(base, path)))
  const target = await resolveInside(base, path)
  await rename(from, target)
  await syncFolder(dirname(target))
}

/** Writes a new file beside its final path. @returns the temporary path */
async function writePart (root: string, key: string, source: ObjectSource, size: number | undefined): Promise<string> {
  const { base, path } = splitKey(root, key)
  await makeFolder(dirname(join(base, path)))
  const folder = dirname(await resolveInside(base, path))
  const part = join(folder, `.${randomUUID()}.tmp`)
  try {
    const handle = await open(part, 'wx', 0o640)
    await writeAll(handle, folder, checkSize(key, source, size)).finally(() => handle.close())
    return part
  } catch (err) {
    await rm(part, { force: true })
    throw err
  }
}

async function listNames (root: string, folder: string): Promise<FolderNames> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((err: unknown) => {
    if (isNotFoundError(err)) return []
    throw err
  })
  return {
    objects: entries.filter((entry) => entry.isFile() && !UNFINISHED.test(entry.name)).map(({ name }) => name),
    folders: entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)
  }
}

async function * listFolder (root: string, folder: string): AsyncGenerator<ObjectFacts> {
  const { objects, folders } = await listNames(root, folder)
  for (const name of objects) {
    const key = `${folder}/${name}`
    const stats = await orNull(() => stat(join(root, key)))
    if (stats !== null) yield { key, size: stats.size, modifiedAt: stats.mtime }
  }
  for (const name of folders) yield * listFolder(root, `${folder}/${name}`)
}

/** Creates the store whose objects are the files of a folder. */
export function createFsStore (root: string): Store {
  return {
    folder: root,
    name: root,

    async put (key, source, size) {
      const part = await writePart(root, key, source, size)
      try {
        await moveFile(part, root, key)
      } catch (err) {
        await rm(part, { force: true })
        throw err
      }
    },

    stage: async (path) => ({
      publish: (key) => moveFile(path, root, key),
      discard: () => rm(path, { force: true })
    }),

    async get (key) {
      const { base, path } = splitKey(root, key)
      return await orNull(async () => {
        const handle = await openInside(base, path)
        try {
          return await toObject(key, handle)
        } catch (err) {
          await handle.close()
          throw err
        }
      })
    },

    async stat (key) {
      const { base, path } = splitKey(root, key)
      const stats = await orNull(async () => await stat(await resolveInside(base, path)))
      return stats?.isFile() === true ? { key, size: stats.size, modifiedAt: stats.mtime } : null
    },

    async delete (keys) {
      for (const key of keys) {
        const { base, path } = splitKey(root, key)
        const target = await ifPresent(resolveInside(base, path))
        if (target !== null) await rm(target, { force: true })
      }
    },

    list: (folder) => listFolder(root, requireKey(folder)),
    listNames: async (folder) => await listNames(root, requireKey(folder)),

    // Features delete the local files that they staged.
    sweep: async () => 0
  }
}
