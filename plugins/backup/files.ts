import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../core/files/fs-error.ts'

/** Folders that a restore replaces as a whole. */
export const FOLDERS = ['assets', 'resources', 'plugins'] as const

/** Incomplete uploads, to which nothing refers yet. */
const UNFINISHED = /(^|\/)(\.incoming|incoming)\/|(^|\/)\.[^/]*\.tmp$|\.part$/
/** Pictures and documents of ROMs that people chose or uploaded. A scan downloads all others again. */
const USER_CONTENT = /^resources\/(collections\/|.*\/manual\/[^/]+$|(.*\/)?own-[^/]*$)/

/**
 * True for files that belong in a backup. Plugin packages may use any file names; the links in them are created again.
 */
const isOwn = (path: string) => path.startsWith('plugins/') ||
  (!UNFINISHED.test(path) && (path.startsWith('assets/') || USER_CONTENT.test(path)))

async function * walk (dataDir: string, folder: string): AsyncGenerator<string> {
  const entries = await opendir(join(dataDir, folder)).catch((err: unknown) => {
    // The folder was never created, or was deleted meanwhile.
    if (errorCode(err) === 'ENOENT') return null
    throw err
  })
  if (entries === null) return
  for await (const entry of entries) {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) yield * walk(dataDir, path)
    else if (entry.isFile() && isOwn(path)) yield path
  }
}

/**
 * Yields the files of a data directory that cannot be recreated, as relative paths: uploads, chosen pictures, plugins.
 */
export async function * listOwnFiles (dataDir: string): AsyncGenerator<string> {
  for (const folder of FOLDERS) yield * walk(dataDir, folder)
}
