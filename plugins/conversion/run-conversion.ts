import type { FastifyInstance } from 'fastify'
import type { Context } from '../../core/access/context.ts'
import type { Config } from '../../core/config/config.ts'
import { ApiError } from '../../core/errors.ts'
import { countEdit } from '../library-versions/version-rows.ts'
import { type EntryHasher, createEntryHasher } from '../hashing/entry-hasher.ts'
import type { createSharedHasher } from '../hashing/shared-hasher.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import type { TaskRun } from '../tasks/definitions.ts'
import { type Archives, createArchives } from './archive-in-thread.ts'
import { type NeighbourFiles, createNeighbourFiles } from './neighbour-files.ts'
import { createChdman, requireChdman } from './chdman.ts'
import { type Conversion, createConvert } from './convert-rom.ts'
import { createDiscs } from './discs.ts'
import { createFileMaker } from './file-maker.ts'
import { type ReportedRom, createReport } from './report.ts'
import { type ConvertibleRom, type Selection, countConvertible, selectConvertible } from './rows.ts'
import type { ConversionArguments } from './schemas.ts'
import { type SwapServices, recoverConversions } from './swap-files.ts'

const PAGE = 500

function explain (err: unknown): string {
  if (err instanceof ApiError && err.code === 'NO_FREE_SPACE') return 'there is not enough free space beside it; 1 GiB always stays free'
  return err instanceof Error ? err.message : String(err)
}

async function * readAll (context: Context<AnyCaller>, selection: Selection): AsyncGenerator<ConvertibleRom> {
  for (let after = 0; ;) {
    const page = await selectConvertible(context, selection, after, PAGE)
    yield * page
    const last = page.at(-1)
    if (last === undefined) return
    after = last.id
  }
}

/** Creates the converter of one run, which opens the neighbours of each library once. */
function createConverter (
  swaps: SwapServices, rules: FastifyInstance['library']['rules'], tools: { hasher: EntryHasher, archives: Archives, signal: AbortSignal }
) {
  const { archives, signal } = tools
  const discs = async () => createDiscs({ chdman: createChdman(await requireChdman(), signal), signal })
  const neighbours = new Map<string, NeighbourFiles>()
  function openNeighbourFiles (dir: string): NeighbourFiles {
    const opened = neighbours.get(dir) ?? createNeighbourFiles({ dir, rules })
    neighbours.set(dir, opened)
    return opened
  }
  return createConvert({
    ...swaps,
    ...tools,
    rules,
    openNeighbourFiles,
    make: createFileMaker({ archives, discs, signal })
  })
}

/** Announces a converted ROM; a failure does not undo the conversion. */
async function announceConverted (app: FastifyInstance, rom: ConvertibleRom): Promise<void> {
  try {
    await countEdit(app.db)
    await app.editing.announce(rom.id)
  } catch (err) {
    app.log.warn({ err, rom: rom.id }, 'clients could not be notified of a converted ROM')
  }
}

interface ConversionServices { app: FastifyInstance, config: Config, hashers: ReturnType<typeof createSharedHasher> }

interface ConversionRun {
  to: ConversionArguments['to']
  convert: (rom: ConvertibleRom) => Promise<Conversion>
  signal: AbortSignal
}

/** Converts a ROM. @returns its result or problem for the report */
async function convertOne (
  app: FastifyInstance, rom: ConvertibleRom, { to, convert, signal }: ConversionRun
): Promise<ReportedRom> {
  const { id, fs_name: name } = rom
  try {
    return { rom_id: id, fs_name: name, ...await convert(rom) }
  } catch (err) {
    signal.throwIfAborted()
    const problem = explain(err)
    app.log.warn({ err, rom: id, to }, 'a ROM could not be converted')
    return { rom_id: id, fs_name: name, problem }
  }
}

/** Converts the chosen ROMs that the person sees who started the run, one after the other. */
export async function runConversion ({ app, config, hashers }: ConversionServices, run: TaskRun): Promise<void> {
  const { signal } = run
  const args = run.payload as ConversionArguments
  const { to, dry_run: isDry = false } = args
  const context = await app.permissions.contextOf(run.user_id)
  if (to === 'chd' && !isDry) await requireChdman()
  const swaps = { db: app.db, library: app.library }
  for (const err of await recoverConversions(swaps, true)) app.log.warn({ err }, 'an interrupted conversion could not be finished')
  const selection = { platform_ids: args.platform_ids ?? null, rom_ids: args.rom_ids ?? null }
  const report = createReport(run.report, { isDryRun: isDry, total: await countConvertible(context, selection) })
  // The settings stay as they are when a run begins.
  const settings = { ...config }
  const lease = await hashers.acquire(settings)
  const archives = createArchives(signal)
  const hasher = createEntryHasher(lease.hasher, settings, signal)
  const converter = createConverter(swaps, app.library.rules, { hasher, archives, signal })

  async function convert (rom: ConvertibleRom): Promise<Conversion> {
    if (isDry) return await converter.predict(rom, to)
    const conversion = await converter.convert(rom, to)
    if (!('left' in conversion)) await announceConverted(app, rom)
    return conversion
  }

  try {
    for await (const rom of readAll(context, selection)) {
      signal.throwIfAborted()
      await report.add(await convertOne(app, rom, { to, convert, signal }))
    }
  } finally {
    lease.release()
    await archives.close()
    await report.flush()
  }
}
