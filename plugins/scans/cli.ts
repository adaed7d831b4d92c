import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Task } from '../tasks/entities.ts'
import { type ScanPayload, createScanPayloadSchema } from './schemas.ts'
import type { ScanType } from '../matching/scan-types.ts'
import { withApp } from '../../core/cli/app.ts'
import { listAllFolders } from '../library/locate-folder.ts'
import { explainRom } from './cli/explain-rom.ts'
import { followScan } from './cli/follow.ts'
import { type ScanState, type ScanView, createBarView, createJsonView, createLineView } from './cli/progress.ts'
import { isOutOfReach } from './disk/read-library.ts'
import { selectStoredFolders } from './platform-rows.ts'
import { coerceText } from '../../core/config/setting-values.ts'
import type { Features } from '../../core/feature.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import type { App } from '../../core/typebox.ts'
import { createReader } from '../../core/web/validation.ts'

export interface ScanOptions {
  type: ScanType
  platform?: string[]
  library?: string[]
  api?: string[]
  rom?: number[]
  option?: string[]
  /** The id or path of a ROM whose lookups are printed in place of a scan. */
  explain?: string
  json?: boolean
  wait: boolean
}

const write = (text: string) => { process.stdout.write(text) }

/** Reads options of metadata providers, written `name=value`. @throws StartError for an unknown option */
function readOptions (given: readonly string[], properties: Record<string, TSchema>): Record<string, unknown> {
  return Object.fromEntries(given.map((text) => {
    const [name = '', ...value] = text.split('=')
    const schema = properties[name]
    if (schema === undefined) {
      const known = Object.keys(properties).join(', ')
      throw new StartError(`'${name}' is not an option of a scan. The options are: ${known}.`, { exitCode: EXIT_CODES.usage })
    }
    return [name, coerceText(value.join('='), schema)]
  }))
}

/** Returns the ids of libraries by name or id. @throws StartError if there is no such library */
async function findLibraries (app: App, names: readonly string[]): Promise<number[]> {
  const roots = await app.library.list()
  return names.map((wanted) => {
    const root = roots.find(({ name }) => name === wanted) ?? roots.find(({ id }) => String(id) === wanted)
    if (root !== undefined) return root.id
    throw new StartError(`There is no library '${wanted}'. The libraries are: ${roots.map(({ name }) => name).join(', ')}.`, { exitCode: EXIT_CODES.usage })
  })
}

/**
 * Requires that each platform folder is stored or in a library. Over the API, unknown names are ignored.
 *
 * @throws StartError naming the first one that is unknown
 */
async function requirePlatforms ({ db, library }: App, names: readonly string[]): Promise<void> {
  const stored = await selectStoredFolders(db, names)
  const missing = names.filter((name) => !stored.has(name))
  if (missing.length === 0) return
  // The scan itself reports libraries that cannot be read.
  const folders = await listAllFolders(library).catch((err: unknown) => {
    if (isOutOfReach(err)) return missing
    throw err
  })
  const unknown = missing.find((name) => !folders.includes(name))
  if (unknown === undefined) return
  throw new StartError(`There is no platform folder '${unknown}'. The folders are: ${folders.join(', ')}.`, { exitCode: EXIT_CODES.usage })
}

/** Reads the payload of a scan. @throws StartError with the reason if the scan would refuse the options */
async function readPayload (app: App, options: ScanOptions): Promise<ScanPayload> {
  const schema = createScanPayloadSchema(app.registry)
  const read = createReader(schema)({
    ...readOptions(options.option ?? [], schema.properties),
    type: options.type,
    platform_fs_slugs: options.platform ?? [],
    roms_ids: options.rom ?? [],
    ...(options.library === undefined ? {} : { library_ids: await findLibraries(app, options.library) }),
    ...(options.api === undefined ? {} : { apis: options.api })
  })
  if ('problem' in read) throw new StartError(`The options of the scan are invalid: ${read.problem}. See svc scan --help.`, { exitCode: EXIT_CODES.usage })
  await requirePlatforms(app, options.platform ?? [])
  return read.value as ScanPayload
}

const ProblemsSchema = Type.Array(Type.Object({ platform: Type.String(), path: Type.String(), reason: Type.String() }))

const isCounters = (value: unknown): value is Record<string, number> =>
  typeof value === 'object' && value !== null && Object.values(value).every((amount) => typeof amount === 'number')

export function toScanState (task: Pick<Task, 'status' | 'error' | 'meta'>): ScanState {
  const { scan_stats: stats, problem_count: count, problems, platform } = task.meta
  return {
    status: task.status,
    error: task.error ?? null,
    platform: typeof platform === 'string' ? platform : null,
    stats: isCounters(stats) ? stats : {},
    problem_count: typeof count === 'number' ? count : 0,
    problems: Value.Check(ProblemsSchema, problems) ? problems : []
  }
}

function createView (options: ScanOptions): ScanView {
  if (options.json === true) return createJsonView(write)
  return process.stdout.isTTY && options.wait ? createBarView(write) : createLineView(write)
}

async function follow (app: App, task: Task, view: ScanView): Promise<number> {
  const leave = new AbortController()
  process.once('SIGINT', () => { leave.abort() })
  const read = async () => toScanState(await app.tasks.get(app.db, task.id))
  const last = await followScan(read, view, leave.signal)
  if (last !== null) return last.status === 'finished' ? 0 : 1
  process.stderr.write(`\nsvc: this command ends; the scan ${task.id} continues in the server\n`)
  return EXIT_CODES.interrupted
}

/** Starts the scan that the options of `svc scan` describe. @returns the exit code */
export async function runScan (app: App, options: ScanOptions): Promise<number> {
  const task = await app.scans.request(await readPayload(app, options), null)
  const view = createView(options)
  view.queued(task.id)
  return options.wait ? await follow(app, task, view) : 0
}

/** Runs `svc scan`. @returns the exit code */
export async function scan (features: Features, options: ScanOptions): Promise<number> {
  const { explain } = options
  return await withApp(features, (await features.loadConfig()).config, (app) =>
    explain === undefined ? runScan(app, options) : explainRom(app, explain, { json: options.json === true, write }))
}
