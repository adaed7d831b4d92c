import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { requireFreeSpace } from '../files/free-space.ts'
import { errorCode } from '../files/fs-error.ts'
import { requireKey } from './store-key.ts'
import type { Store, StoredObject } from './store.ts'

/** Keys of one deletion. The folder of a platform may have a million objects. */
const DELETED_AT_ONCE = 1_000

/**
 * Copies an object to the same or another key of a store.
 *
 * @returns its size; null if there is no such object
 */
export async function copyObject (from: Store, to: Store, key: string, newKey = key): Promise<number | null> {
  const object = await from.get(key)
  if (object === null) return null
  try {
    await to.put(newKey, object.read(0, object.size), object.size)
    return object.size
  } finally {
    await object.close()
  }
}

/** Gives an object another key. @returns false if there is no such object */
export async function moveObject (store: Store, from: string, to: string): Promise<boolean> {
  if (store.folder !== null) {
    if (await store.stat(from) === null) return false
    await (await store.stage(join(store.folder, from))).publish(to)
    return true
  }
  if (await copyObject(store, store, from, to) === null) return false
  await store.delete([from])
  return true
}

/** Deletes all objects in a folder and in its folders. */
export async function deleteFolder (store: Store, folder: string): Promise<void> {
  if (store.folder !== null) {
    await rm(join(store.folder, requireKey(folder)), { recursive: true, force: true })
    return
  }
  let keys: string[] = []
  for await (const { key } of store.list(folder)) {
    keys.push(key)
    if (keys.length < DELETED_AT_ONCE) continue
    await store.delete(keys)
    keys = []
  }
  await store.delete(keys)
}

/** Renames a folder of the disk, unless it is missing or the other one has files. */
async function renameFolder (from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true })
  try {
    await rename(from, to)
  } catch (err) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errorCode(err))) throw err
  }
}

/** Gives all objects of a folder keys in another folder. After a crash a second call moves the rest. */
export async function moveFolder (store: Store, from: string, to: string): Promise<void> {
  if (store.folder !== null) {
    await renameFolder(join(store.folder, requireKey(from)), join(store.folder, requireKey(to)))
    return
  }
  for await (const { key } of store.list(from)) await moveObject(store, key, to + key.slice(from.length))
}

/**
 * Runs work that needs a file on this machine, such as reading a zip.
 *
 * @param folder where a temporary copy is written if the object is on another machine
 */
export async function withLocalFile<T> (
  { folder: ownFolder }: Store, object: StoredObject, folder: string, work: (path: string) => Promise<T>
): Promise<T> {
  if (ownFolder !== null) return await work(join(ownFolder, object.key))
  await requireFreeSpace(folder, object.size)
  await mkdir(folder, { recursive: true })
  const path = join(folder, `${randomUUID()}.part`)
  try {
    await pipeline(object.read(0, object.size), createWriteStream(path, { flags: 'wx' }))
    return await work(path)
  } finally {
    await rm(path, { force: true })
  }
}
