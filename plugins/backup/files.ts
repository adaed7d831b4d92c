import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { errorCode } from '../../core/files/fs-error.ts'

/** What a restore puts back whole. */
export const FOLDERS = ['assets', 'resources', 'plugins'] as const

/** Uploads that are not complete yet: nothing refers to them. */
const UNFINISHED = /(^|\/)(\.incoming|incoming)\/|(^|\/)\.[^/]*\.tmp$|\.part$/
/** Of the pictures and documents of ROMs those that people chose or uploaded; a scan fetches the others again. */
const OF_PEOPLE = /^resources\/(collections\/|.*\/manual\/[^/]+$|(.*\/)?own-[^/]*$)/

/** Packages that people added, with whatever names their files have; links in them are made again. */
const isOwn = (path: string) => path.startsWith('plugins/') ||
  (!UNFINISHED.test(path) && (path.startsWith('assets/') || OF_PEOPLE.test(path)))

async function * walk (dataDir: string, folder: string): AsyncGenerator<string> {
  const entries = await opendir(join(dataDir, folder)).catch((err: unknown) => {
    // Never made, or removed meanwhile.
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

/** Files of a data directory that nobody could make again, relative to it: uploads, pictures people chose, plugins. */
export async function * listOwnFiles (dataDir: string): AsyncGenerator<string> {
  for (const folder of FOLDERS) yield * walk(dataDir, folder)
}
