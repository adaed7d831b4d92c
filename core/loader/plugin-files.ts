import { type Dirent, createReadStream } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FileEntry, Files } from '@svc/plugin-sdk'
import { isNotFoundError } from '../files/fs-error.ts'
import { type WithinFolder, isInside, resolveInside } from '../files/safe-path.ts'

const TEXT_MAX_BYTES = 64 * 1024 * 1024

async function readBounded (path: string, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let total = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    total += chunk.length
    if (total > maxBytes) throw new Error(`The file is larger than ${maxBytes} bytes and is not read`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** A file or folder with its real path, and the real path of the folder that links in it must not leave. */
interface FoundFile { real: string, root: string, isFolder: boolean }

/**
 * Creates read-only access for plugins to a folder such as the library, and to nothing outside.
 *
 * @param within chooses the folder that links must not leave; `rootDir` by default
 */
export function createFiles (rootDir: string, within: WithinFolder = (path, work) => work(rootDir, path)): Files {
  /** Returns null if nothing exists at a path. */
  async function find (path: string): Promise<FoundFile | null> {
    const { real, root } = await within(path, async (base, inner) =>
      ({ real: await resolveInside(base, inner), root: await realpath(base) }))
    try {
      return { real, root, isFolder: (await stat(real)).isDirectory() }
    } catch (err) {
      if (isNotFoundError(err)) return null
      throw err
    }
  }
  async function toEntry (folder: string, found: Dirent, root: string): Promise<FileEntry[]> {
    const { name } = found
    const path = join(folder, name)
    try {
      if (found.isSymbolicLink() && !isInside(root, await realpath(path))) return []
      const facts = await stat(path)
      const mtime = Math.trunc(facts.mtimeMs)
      if (facts.isDirectory()) return [{ name, kind: 'folder', size: 0, mtime }]
      return facts.isFile() ? [{ name, kind: 'file', size: facts.size, mtime }] : []
    } catch {
      // The entry vanished since the folder was listed, or is a broken link.
      return []
    }
  }
  return {
    async readText (path, maxBytes = TEXT_MAX_BYTES) {
      const found = await find(path)
      return found === null || found.isFolder ? undefined : await readBounded(found.real, maxBytes)
    },
    async * stream (path) {
      const found = await find(path)
      if (found !== null && !found.isFolder) yield * createReadStream(found.real) as AsyncIterable<Buffer>
    },
    async list (path) {
      const found = await find(path)
      if (found === null || !found.isFolder) return []
      const entries = (await readdir(found.real, { withFileTypes: true })).sort((a, b) => a.name < b.name ? -1 : 1)
      return (await Promise.all(entries.map((entry) => toEntry(found.real, entry, found.root)))).flat()
    },
    exists: async (path) => await find(path) !== null
  }
}
