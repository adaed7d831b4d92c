import { closeSync, globSync, mkdirSync, openSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { SERVER_DIR } from '../../core/server-dir.ts'

/** The most files per process, because leftovers of tests would fill the memory of a small machine. */
export const FILES_MAX = 72
/**
 * Files to start early. Some wait for other processes or for time, so other work can run beside them. Others take long
 * for their size and must not start last.
 */
export const EARLY = [
  'sdk/test/surface', 'test/browser/', 'test/contract/', 'test/core/', 'test/e2e/', 'test/grouped/', 'test/loader/',
  'test/plugins/assets/history', 'test/plugins/hashing/order', 'test/plugins/roms/query-plans', 'test/plugins/scans/gateway',
  'test/plugins/scans/guests', 'test/plugins/scans/together', 'test/plugins/server-sync/', 'test/plugins/sync/histories',
  'test/plugins/watcher/', 'test/plugins/webdav/histories', 'test/shape'
]
const GROUPS = join(SERVER_DIR, '.tap', 'groups')
const RUNNER = pathToFileURL(join(SERVER_DIR, 'test', 'grouped', 'group.ts')).href

interface TapSettings { include: string[], exclude: string[], jobs: number }

const readSettings = () => parse(readFileSync(join(SERVER_DIR, '.taprc'), 'utf8')) as TapSettings

const listFiles = (include: string | string[], exclude: readonly string[]) =>
  globSync(include, { cwd: SERVER_DIR, exclude: ['**/node_modules/**', ...exclude] })
    .map((file) => file.replaceAll('\\', '/')).sort()

/** Returns the names of the suite's files. */
export function listTestFiles (): string[] {
  const { include, exclude } = readSettings()
  return listFiles(include, exclude)
}

/** Returns the names of the long tests beside those of the features; `test/soak` contains longer ones. */
export const listSoakFiles = () => listFiles('{sdk,test}/**/*.soak.ts', ['test/soak/**'])

/** Replaces each folder among named files by those of these files that are in it. */
export const expandFolders = (names: readonly string[], files: readonly string[]): string[] => names.flatMap((name) => {
  const inside = files.filter((file) => file.startsWith(`${name.replace(/\/+$/, '')}/`))
  return inside.length > 0 ? inside : [name]
})

/** Returns the order of the files: early ones alternate with others, and long ones come before short ones. */
export function orderFiles (files: readonly string[]): string[] {
  const sizes = new Map(files.map((file) => [file, statSync(join(SERVER_DIR, file)).size]))
  const bySize = files.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0))
  const isEarly = (file: string) => EARLY.some((start) => file.startsWith(start))
  const [early, others] = [bySize.filter(isEarly), bySize.filter((file) => !isEarly(file))]
  const beside = others.flatMap((file, place) => [...early.slice(place, place + 1), file])
  return [...beside, ...early.slice(others.length)]
}

/** Returns a program that runs these files as one group. */
export const programOf = (files: readonly string[]) =>
  `import { runFiles } from '${RUNNER}'\nawait runFiles(${JSON.stringify(files, null, 2)})\n`

/** Files in their order; `folder` contains a mark for each file that a process took. */
export interface Queue { folder: string, files: readonly string[] }

/**
 * Yields files that no other process has taken, up to `FILES_MAX`. Rewrites the program of the process, `program`, to
 * run exactly these files, because that reproduces a failure.
 */
export function * takeFiles ({ folder, files }: Queue, program: string): Generator<string> {
  const taken: string[] = []
  for (const [place, file] of files.entries()) {
    if (taken.length === FILES_MAX) return
    if (!take(join(folder, String(place)))) continue
    taken.push(file)
    writeFileSync(program, programOf(taken))
    yield file
  }
}

/** True if this process is the first to create the file. */
function take (path: string): boolean {
  try {
    closeSync(openSync(path, 'wx'))
    return true
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw err
  }
}

/** Returns a program that takes files of a queue and runs them. */
export const takerOf = (queue: Queue) =>
  `import { runFiles } from '${RUNNER}'
import { takeFiles } from '${import.meta.url}'
await runFiles(takeFiles(${JSON.stringify(queue, null, 2)}, import.meta.filename))
`

/**
 * Writes programs for tap, each of which takes some of these files until none is left. There are more programs than
 * necessary, because one must always be free while files are left. @returns their names
 */
export function writeGroups (files: readonly string[]): string[] {
  rmSync(GROUPS, { recursive: true, force: true })
  const queue = { folder: join(GROUPS, 'taken'), files: orderFiles(files) }
  mkdirSync(queue.folder, { recursive: true })
  const count = Math.ceil(queue.files.length / FILES_MAX) + readSettings().jobs
  return Array.from({ length: count }, (_, index) => {
    const path = join(GROUPS, `${String(index + 1).padStart(2, '0')}.mjs`)
    writeFileSync(path, takerOf(queue))
    return path
  })
}
