import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { requireFreeSpace } from '../../files/free-space.ts'
import { BUILT_IN_FOLDERS } from './packages.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { runDir } from '../../config/run-dir.ts'

/**
 * The code without its types is stored between starts, for `strip-hook.js`, because Node would load a compiler into
 * every process to remove them. It is in the data directory, where no other user can write. V8's compiled code is not
 * stored, because Node's compile cache saves no relevant time. Each process would also keep what it read from that
 * cache, a sixth of its memory.
 */
const folderOf = (dataDir: string) => join(runDir(dataDir), 'stripped')
const markOf = (dataDir: string) => join(folderOf(dataDir), 'complete')
const HOOK = `--import=${pathToFileURL(join(SERVER_DIR, 'core', 'loader', 'packages', 'strip-hook.js')).href}`
const CODE_FOLDERS = ['core', 'plugins', 'sdk', ...BUILT_IN_FOLDERS]
/** More than the stripped code ever needs. */
const STRIPPED_MAX_BYTES = 32 * 1024 ** 2

const listSources = () => CODE_FOLDERS.flatMap((folder) =>
  readdirSync(join(SERVER_DIR, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts')).map((path) => join(SERVER_DIR, folder, path)))

/** Returns a fingerprint that changes with the files and with the Node version. */
function fingerprintOf (sources: readonly string[]): string {
  const states = sources.map((path) => {
    const { size, mtimeMs } = statSync(path)
    return `${path} ${size} ${mtimeMs}`
  })
  return hash('sha256', [process.version, ...states].join('\n'))
}

function readMark (dataDir: string): string | null {
  try {
    return readFileSync(markOf(dataDir), 'utf8')
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw err
  }
}

/**
 * Stores the stripped code for processes that start later, unless it is aborted first. Only the holder of the lock may
 * call it.
 *
 * @throws ApiError NO_FREE_SPACE if there is no space for it; processes then start without it, only slower.
 */
export async function stripCode (dataDir: string, signal?: AbortSignal): Promise<void> {
  const sources = listSources()
  const fingerprint = fingerprintOf(sources)
  if (readMark(dataDir) === fingerprint) return
  const folder = folderOf(dataDir)
  rmSync(folder, { recursive: true, force: true })
  await requireFreeSpace(dataDir, STRIPPED_MAX_BYTES)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  for (const path of sources) {
    const source = readFileSync(path, 'utf8')
    const text = stripTypeScriptTypes(source)
    writeFileSync(join(folder, hash('sha256', source)), hash('sha256', text) + text)
    // Yields, because the database starts meanwhile. Reading files one after the other takes half as long as through
    // the thread pool.
    await setImmediate()
    if (signal?.aborted === true) return
  }
  writeFileSync(markOf(dataDir), fingerprint)
}

/** Returns the flag for processes that shall use the stripped code, if it exists. */
export const strippedFlags = (dataDir: string): string[] =>
  readMark(dataDir) === null ? [] : [`${HOOK}?${new URLSearchParams({ folder: folderOf(dataDir) }).toString()}`]

/** Returns the flag for stripped code with which this process was started. */
export const inheritedFlags = (): string[] => process.execArgv.filter((flag) => flag.startsWith(HOOK))

/** The folder that this flag names; null without the flag. */
export const inheritedFolder = (): string | null =>
  new URLSearchParams(inheritedFlags()[0]?.slice(HOOK.length)).get('folder')
