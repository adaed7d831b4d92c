import { statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { withApp } from '../../core/cli/app.ts'
import { ApiError, EXIT_CODES, StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import type { App } from '../../core/typebox.ts'
import type { Task } from '../tasks/entities.ts'
import { followTask } from '../tasks/follow-task.ts'
import type { DatRenameView, DatView } from './schemas.ts'

export interface ListOptions { json?: boolean }
export interface AddOptions { platform?: string[] }
export interface FixdatOptions { output?: string }
export interface RenameOptions { rom?: number[], dryRun?: boolean }

const PAGE = 1_000

const write = (text: string) => { process.stdout.write(text) }
const warn = (text: string) => { process.stderr.write(text) }
const contextOf = (app: App) => ({ db: app.db, caller: null })

/** Runs a command. An error that the operator can fix becomes a message without a stack. */
async function run<T> (features: Features, work: (app: App) => Promise<T>): Promise<T> {
  const { config } = await features.loadConfig()
  return await withApp(features, config, async (app) => await work(app).catch((err: unknown) => {
    throw err instanceof ApiError ? new StartError(err.message) : err
  }))
}

/** Waits for a task, and prints its report. @returns the exit code */
async function finish (app: App, { id }: Task, printReport: (meta: Task['meta']) => boolean): Promise<number> {
  const task = await followTask(app, id)
  if (task === null) return EXIT_CODES.interrupted
  const isClean = printReport(task.meta)
  // The report names the problems already.
  if (task.status !== 'finished' && isClean) warn(`svc: ${task.title}: ${task.error ?? task.status}\n`)
  return task.status === 'finished' && isClean ? 0 : 1
}

const listOf = <T>(value: unknown): T[] => Array.isArray(value) ? value as T[] : []

function describe (dat: DatView): string {
  const { id, name, version, platform_slugs: slugs, have_count: have, miss_count: miss, extra_count: extra } = dat
  const place = slugs.length === 0 ? 'no platform: choose one with svc dat add --platform' : slugs.join(', ')
  return `${id}  ${name}${version === '' ? '' : ` ${version}`} (${place}): ${have} have, ${miss} missing, ${extra} extra\n`
}

/** Runs `svc dat list`. */
export async function listDats (features: Features, { json }: ListOptions): Promise<void> {
  await run(features, async (app) => {
    const dats = await app.dats.list(contextOf(app))
    for (const dat of dats) write(json === true ? `${JSON.stringify(dat)}\n` : describe(dat))
    if (dats.length === 0 && json !== true) write('There is no DAT. Load one with svc dat add <file>.\n')
  })
}

/** @returns true if no file had a problem */
function printLoad (meta: Task['meta']): boolean {
  for (const { name, games } of listOf<{ name: string, games: number }>(meta.loaded)) write(`Loaded ${name}: ${games} ${games === 1 ? 'game' : 'games'}\n`)
  for (const { file, problem } of listOf<{ file: string, problem: string }>(meta.older)) warn(`Skipped ${file}: ${problem}\n`)
  const problems = listOf<{ file: string, problem: string }>(meta.problems)
  for (const { file, problem } of problems) warn(`Refused ${file}: ${problem}\n`)
  return problems.length === 0
}

/** @throws StartError if the file cannot be read · ApiError if it is no DAT or a slug is unknown */
async function addDat (app: App, path: string, slugs: readonly string[] | null): Promise<Task> {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new StartError(`${path} is a folder. Give the files in it, such as ${join(path, '*.dat')}.`)
  }
  const file = await open(path).catch((err: unknown) => {
    const reason = err instanceof Error ? err.message : String(err)
    throw new StartError(`${path} cannot be read: ${reason}. Give the path of a DAT.`, { cause: err })
  })
  try {
    return await app.dats.add(basename(path), file.createReadStream({ autoClose: false }), slugs)
  } finally {
    await file.close()
  }
}

/** Runs `svc dat add`. @returns the exit code */
export async function addDats (
  features: Features, files: readonly string[], { platform }: AddOptions
): Promise<number> {
  return await run(features, async (app) => {
    let code = 0
    for (const file of files) {
      try {
        code = Math.max(code, await finish(app, await addDat(app, file, platform ?? null), printLoad))
        if (code === EXIT_CODES.interrupted) break
      } catch (err) {
        if (!(err instanceof ApiError || err instanceof StartError)) throw err
        warn(`svc: ${err.message}\n`)
        code = Math.max(code, 1)
      }
    }
    return code
  })
}

/** Runs `svc dat remove`. @returns the exit code */
export async function removeDats (features: Features, ids: readonly number[]): Promise<number> {
  return await run(features, async (app) => {
    let code = 0
    for (const id of ids) {
      try {
        await app.dats.remove(contextOf(app), id)
        write(`Deleted DAT ${id}.\n`)
      } catch (err) {
        if (!(err instanceof ApiError)) throw err
        warn(`svc: ${err.message}\n`)
        code = 1
      }
    }
    return code
  })
}

/** Runs `svc dat fixdat`. */
export async function writeFixdat (features: Features, id: number, { output }: FixdatOptions): Promise<void> {
  await run(features, async (app) => {
    const { text } = await app.dats.createFixdat(contextOf(app), id)
    if (output === undefined) {
      for await (const piece of text) write(piece)
      return
    }
    const file = await open(output, 'wx').catch((err: unknown) => {
      const reason = err instanceof Error ? err.message : String(err)
      throw new StartError(`${output} cannot be written: ${reason}. Give the path of a new file.`, { cause: err })
    })
    await pipeline(Readable.from(text), file.createWriteStream())
  })
}

const describeRename = ({ fs_name: before, new_name: after, refusal }: DatRenameView) =>
  refusal === null ? `${before} → ${after}\n` : `${before} stays: ${refusal}\n`

async function previewRenames (app: App, id: number, romIds: readonly number[] | null): Promise<number> {
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page = await app.dats.previewRenames(contextOf(app), id, { limit: PAGE, offset })
    total = page.total
    for (const rename of page.items) if (romIds?.includes(rename.rom_id) ?? true) write(describeRename(rename))
    if (total === 0) write('No ROM has another name than its game.\n')
  }
  return 0
}

function printRenames (meta: Task['meta']): boolean {
  const refused = listOf<DatRenameView>(meta.refused)
  for (const rename of listOf<DatRenameView>(meta.renamed)) write(describeRename(rename))
  for (const rename of refused) warn(describeRename(rename))
  write(`${Number(meta.renamed_count ?? 0)} renamed, ${Number(meta.refused_count ?? 0)} refused.\n`)
  return refused.length === 0
}

/** Runs `svc dat rename`. @returns the exit code */
export async function renameByDat (features: Features, id: number, { rom, dryRun }: RenameOptions): Promise<number> {
  return await run(features, async (app) => {
    if (dryRun === true) return await previewRenames(app, id, rom ?? null)
    const task = await app.tasks.run('rename_by_dat', { dat_id: id, ...(rom === undefined ? {} : { rom_ids: rom }) }, null)
    return await finish(app, task, printRenames)
  })
}
