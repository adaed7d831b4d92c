import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import { errorCode } from '../../../core/files/fs-error.ts'
import { copyObject, moveObject } from '../../../core/store/move-object.ts'
import type { Store } from '../../../core/store/store.ts'
import { contentKey } from '../asset-files.ts'
import { listFiles } from '../stored-files.ts'
import type { Content } from './janitor-rows.ts'

/** Folder for files that no row names. After a database restore they may be the only copies of a user's saves. */
const LOST = 'lost'

/** Returns null for a file that was deleted meanwhile. */
async function sha1Of (store: Store, path: string): Promise<string | null> {
  const object = await store.get(contentKey(path))
  if (object === null) return null
  try {
    const hash = createHash('sha1')
    await pipeline(object.read(0, object.size), hash)
    return hash.digest('hex')
  } finally {
    await object.close()
  }
}

const keyOf = ({ file_size_bytes: size, sha1 }: Pick<Content, 'file_size_bytes' | 'sha1'>) => `${size} ${sha1}`

/**
 * Returns the files set aside that may be one of the wanted contents, by size and SHA-1. Only files of a wanted size
 * are read.
 */
async function indexLostFiles (store: Store, missing: readonly Content[]): Promise<Map<string, string>> {
  const sizes = new Set(missing.map(({ file_size_bytes: size }) => size))
  const index = new Map<string, string>()
  for await (const { path, size } of listFiles(store, LOST)) {
    const sha1 = sizes.has(size) ? await sha1Of(store, path) : null
    if (sha1 !== null) index.set(keyOf({ file_size_bytes: size, sha1 }), path)
  }
  return index
}

/** @returns false if the store has no space for a second copy */
async function copyContent (store: Store, source: string, target: string): Promise<boolean> {
  try {
    return await copyObject(store, store, contentKey(source), contentKey(target)) !== null
  } catch (err) {
    if (errorCode(err) === 'NO_FREE_SPACE') return false
    throw err
  }
}

/** Moves files that no row names to the folder of lost files. Another process may delete a file at the same time. */
export async function setAside (store: Store, paths: readonly string[]): Promise<void> {
  const folder = `${LOST}/${new Date().toISOString().slice(0, 10)}`
  for (const path of paths) await moveObject(store, contentKey(path), contentKey(`${folder}/${path}`))
}

/**
 * Restores missing files from the files that were set aside and have the same content.
 *
 * @returns the paths that have their content again
 */
export async function recover (store: Store, missing: readonly Content[]): Promise<string[]> {
  if (missing.length === 0) return []
  const index = await indexLostFiles(store, missing)
  const recovered: string[] = []
  for (const content of missing) {
    const source = index.get(keyOf(content))
    if (source === undefined) continue
    const { disk_path: path } = content
    // The next row with this content gets a copy of this row's file.
    if (source.startsWith(`${LOST}/`)) await moveObject(store, contentKey(source), contentKey(path))
    else if (!await copyContent(store, source, path)) continue
    index.set(keyOf(content), path)
    recovered.push(path)
  }
  return recovered
}
