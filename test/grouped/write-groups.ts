import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parse } from 'yaml'
import { SERVER_DIR } from '../../core/server-dir.ts'

/** Loading the server takes longer than most files; more of them would leave one process working after all others. */
export const FILES_MAX = 9
/** What waits most comes first, so that there is other work beside it. */
const FIRST = ['test/e2e', 'test/core', 'test/contract', 'test/loader']
const FOLDER = join(SERVER_DIR, '.tap', 'groups')
const RUNNER = pathToFileURL(join(SERVER_DIR, 'test', 'grouped', 'group.ts')).href

/** The files of the suite, by name. */
export function listTestFiles (): string[] {
  const { include, exclude } = parse(readFileSync(join(SERVER_DIR, '.taprc'), 'utf8')) as Record<string, string[]>
  return globSync(include ?? [], { cwd: SERVER_DIR, exclude: ['**/node_modules/**', ...exclude ?? []] })
    .map((file) => file.replaceAll('\\', '/')).sort()
}

/** Files that need much the same code are together: those of the server, and those of packages, which never load it. */
function placeOf (file: string): string {
  return FIRST.find((folder) => file.startsWith(`${folder}/`)) ?? (file.startsWith('test/') ? 'test/plugins' : 'packages')
}

/** `files` in as few parts as there may be, of much the same size. */
function divide (files: readonly string[]): string[][] {
  const count = Math.ceil(files.length / FILES_MAX)
  return Array.from({ length: count }, (_, part) =>
    files.slice(Math.round(part * files.length / count), Math.round((part + 1) * files.length / count)))
}

/** Groups of test files, those that are to begin first at the front. */
export function groupFiles (files: readonly string[]): Array<{ place: string, files: string[] }> {
  const places = [...FIRST, 'test/plugins', 'packages']
  return places.flatMap((place) =>
    divide(files.filter((file) => placeOf(file) === place)).map((files) => ({ place, files })))
}

/** What runs these files as one group. */
export const programOf = (files: readonly string[]) =>
  `import { runFiles } from '${RUNNER}'\nawait runFiles(${JSON.stringify(files, null, 2)})\n`

/** Writes a program for each group of the suite's files, for tap to run; their names, which tap sorts by. */
export function writeGroups (): string[] {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  return groupFiles(listTestFiles()).map(({ place, files }, index) => {
    const path = join(FOLDER, `${String(index + 1).padStart(2, '0')}-${place.replace('/', '-')}.mjs`)
    writeFileSync(path, programOf(files))
    return path
  })
}
