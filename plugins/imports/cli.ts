import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { withWorker } from '../../core/cli/app.ts'
import type { Config } from '../../core/config/config.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import type { App } from '../../core/typebox.ts'
import type { Task } from '../tasks/entities.ts'
import { followTask } from '../tasks/follow-task.ts'
import { findAccount } from '../users/import-rows.ts'
import { readSettings } from './config.ts'
import type { ImporterDefinition, ImporterSettings } from './contract.ts'
import { formatReport, nameKind } from './report.ts'
import { SCANNING } from './run-import.ts'

/** The flags of the command; those of the importer are in camel case. */
export interface ImportOptions {
  dryRun?: boolean
  user?: string
  json?: boolean
  wait: boolean
  [flag: string]: unknown
}

/** A line of progress is written at most this often. */
const LINE_MS = 2_000

const toCamelCase = (name: string) => name.replaceAll(/_(\w)/g, (_match, letter: string) => letter.toUpperCase())

async function readSecret (flag: string, file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (err) {
    throw new StartError(`The file '${file}' of ${flag} cannot be read: ${err instanceof Error ? err.message : String(err)}`, { exitCode: EXIT_CODES.usage })
  }
}

/** Returns the settings of the configuration, with those of the flags in their place. @throws StartError */
async function collectSettings (
  config: Config, { key, options }: ImporterDefinition, flags: ImportOptions
): Promise<ImporterSettings> {
  const settings: Record<string, string> = {}
  for (const [name, value] of Object.entries(readSettings(config, key))) if (value !== undefined) settings[name] = value
  for (const [name, option] of Object.entries(options)) {
    const isSecret = option.secret === true
    const value = flags[toCamelCase(isSecret ? `${name}_file` : name)]
    if (typeof value !== 'string') continue
    const path = option.isPath === true ? resolve(value) : value
    settings[name] = isSecret ? await readSecret(`--${name.replaceAll('_', '-')}-file`, value) : path
  }
  const missing = Object.entries(options)
    .find(([name, option]) => option.required === true && settings[name] === undefined)
  if (missing !== undefined) {
    const [name] = missing
    throw new StartError(`The import from ${key} needs --${name.replaceAll('_', '-')}: ${missing[1].description}. See svc import ${key} --help.`,
      { exitCode: EXIT_CODES.usage })
  }
  return settings
}

async function findUserId (app: App, name: string | undefined): Promise<number | null> {
  if (name === undefined) return null
  const user = await findAccount(app.db, { username: name.toLowerCase() })
  if (user === null) throw new StartError(`There is no user '${name}' here. Create the account first, with svc user add.`, { exitCode: EXIT_CODES.usage })
  return user.id
}

function describeProgress ({ current, listed }: Record<string, unknown>): string {
  if (typeof current !== 'string' || typeof listed !== 'number') return 'opening the source'
  if (current === SCANNING) return 'scanning the library'
  return `${listed} records read, now ${nameKind(current)}`
}

/** Creates the function that prints the progress of the task of an import. */
function createProgress (work: string): (task: Task) => void {
  let writtenAt = -Infinity
  return ({ status, meta }) => {
    if (!['queued', 'started'].includes(status) || performance.now() - writtenAt < LINE_MS) return
    writtenAt = performance.now()
    process.stderr.write(`${work}: ${status === 'started' ? describeProgress(meta) : 'waiting for the scan worker'}.\n`)
  }
}

/** Runs an import and prints its report. @returns the exit code */
export async function runImport (
  app: App, importer: ImporterDefinition, settings: ImporterSettings, flags: ImportOptions
): Promise<number> {
  const task = await app.imports.request({
    importer: importer.key, settings, dry_run: flags.dryRun === true, user_id: await findUserId(app, flags.user)
  }, null)
  const work = `${flags.dryRun === true ? 'Planning the import' : 'Importing'} from ${importer.title}`
  process.stderr.write(`${work}: queued as the task ${task.id}.\n`)
  if (!flags.wait) return 0
  const ended = await followTask(app, task.id, createProgress(work))
  if (ended === null) return EXIT_CODES.interrupted
  const { report } = await app.imports.get(app.db, task.id)
  process.stdout.write(flags.json === true ? `${JSON.stringify(report)}\n` : formatReport(report))
  return ended.status === 'finished' ? 0 : 1
}

/** Runs `svc import <key>`. @returns the exit code */
export async function importLibrary (
  features: Features, importer: ImporterDefinition, flags: ImportOptions
): Promise<number> {
  const { config } = await features.loadConfig()
  const settings = await collectSettings(config, importer, flags)
  return await withWorker(features, config, (app) => runImport(app, importer, settings, flags))
}
