import { hash } from 'node:crypto'
import { mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../../config/config.ts'
import { explainDataDir } from '../../config/data-dir.ts'
import { settingsEnvironment } from '../../config/environment.ts'
import { createRunDir, runDir } from '../../config/run-dir.ts'
import { requireFreeSpace } from '../../files/free-space.ts'
import { errorCode } from '../../files/fs-error.ts'
import { SERVER_DIR } from '../../server-dir.ts'
import { toAscii } from './ascii-code.js'
import { bundlePackages } from './bundle-packages.ts'
import { nameBundles } from './bundles.js'
import { compactCode } from './compact-code.ts'
import { BUILT_IN_FOLDERS } from './packages.ts'

/**
 * The code without its types is stored between starts, for `strip-hook.js`, because Node would load a compiler into
 * every process to remove them. It is in the data directory, where no other user can write. V8's compiled code is not
 * stored, because Node's compile cache saves no relevant time. Each process would also keep what it read from that
 * cache, a sixth of its memory.
 */
const folderOf = (dataDir: string) => join(runDir(dataDir), 'stripped')
const MARK = 'complete'
const markOf = (dataDir: string) => join(folderOf(dataDir), MARK)
const HOOK = `--import=${pathToFileURL(join(SERVER_DIR, 'core', 'loader', 'packages', 'strip-hook.js')).href}`
const CODE_FOLDERS = ['core', 'plugins', 'sdk', ...BUILT_IN_FOLDERS]
/** More than the stripped code ever needs. */
const STRIPPED_MAX_BYTES = 32 * 1024 ** 2

const listSources = () => CODE_FOLDERS.flatMap((folder) =>
  readdirSync(join(SERVER_DIR, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts')).map((path) => join(SERVER_DIR, folder, path))).sort()

/** Returns a fingerprint that changes with the files, with the bundled packages and with the Node version. */
function fingerprintOf (sources: readonly string[]): string {
  const states = sources.map((path) => {
    const { size, mtimeMs } = statSync(path)
    return `${path} ${size} ${mtimeMs}`
  })
  return hash('sha256', [process.version, nameBundles(), ...states].join('\n'))
}

function readMark (dataDir: string): string | null {
  try {
    return readFileSync(markOf(dataDir), 'utf8')
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return null
    throw err
  }
}

/**
 * Stores the stripped code for processes that start later, unless it is there. Several processes may do so at once:
 * each file is named by its content, and the hook ignores an incomplete one.
 *
 * @returns true if code was stored
 * @throws ApiError NO_FREE_SPACE if there is no space for it; processes then start without it, only slower.
 */
export async function stripCode (dataDir: string, log?: Pick<FastifyBaseLogger, 'warn'>): Promise<boolean> {
  const sources = listSources()
  const fingerprint = fingerprintOf(sources)
  if (readMark(dataDir) === fingerprint) return false
  await requireFreeSpace(dataDir, STRIPPED_MAX_BYTES)
  const folder = folderOf(dataDir)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // The former mark stays until it is replaced, because another process may start meanwhile.
  const bundles = await bundlePackages(folder).catch((err: unknown) => {
    log?.warn({ err }, 'large packages could not be bundled, which costs each process some memory')
    return MARK
  })
  const names = new Set([MARK, bundles, ...sources.map((path) => storeStripped(folder, path))])
  for (const name of readdirSync(folder)) {
    if (!names.has(name)) rmSync(join(folder, name), { force: true, recursive: true })
  }
  writeFileSync(markOf(dataDir), fingerprint)
  return true
}

/** Stores the code of one source. @returns the name of its file */
function storeStripped (folder: string, path: string): string {
  const source = readFileSync(path, 'utf8')
  const text = toAscii(compactCode(source, stripTypeScriptTypes(source)))
  const name = hash('sha256', source)
  writeFileSync(join(folder, name), hash('sha256', text) + text)
  return name
}

/**
 * Strips the code after a change of it, and then replaces this process by one that runs the stripped code. This
 * process has loaded Node's compiler, 45 MB that it would keep as long as it lives.
 *
 * @throws StartError if the data directory cannot be created
 */
export async function runStripped ({ data_dir: dataDir }: Config, log: FastifyBaseLogger): Promise<void> {
  createRunDir(dataDir)
  try {
    if (!await stripCode(dataDir, log)) return
  } catch (err) {
    log.warn({ err }, 'the code could not be prepared, which costs each process time and memory at its start: ' +
      explainDataDir(dataDir, err).message)
    return
  }
  // If the code or the mark changed again, the new process would replace itself too, perhaps without end.
  if (process.platform === 'win32' || readMark(dataDir) !== fingerprintOf(listSources())) return
  const flags = [...process.execArgv.filter((flag) => !flag.startsWith(HOOK)), ...strippedFlags(dataDir)]
  const args = [process.execPath, ...flags, ...process.argv.slice(1)]
  process.execve?.(process.execPath, args, { ...settingsEnvironment() })
}

/** Returns the flag for processes that shall use the stripped code, if it exists. */
export const strippedFlags = (dataDir: string): string[] =>
  readMark(dataDir) === null ? [] : [`${HOOK}?${new URLSearchParams({ folder: folderOf(dataDir) }).toString()}`]

/** Returns the flag for stripped code with which this process was started. */
export const inheritedFlags = (): string[] => process.execArgv.filter((flag) => flag.startsWith(HOOK))

/** The folder that this flag names; null without the flag. */
export const inheritedFolder = (): string | null =>
  new URLSearchParams(inheritedFlags()[0]?.slice(HOOK.length)).get('folder')
