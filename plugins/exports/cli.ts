import type { ExportOutcome } from './schemas.ts'
import { withWorker } from '../../core/cli/app.ts'
import type { Features } from '../../core/feature.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import type { App } from '../../core/typebox.ts'
import { runScan } from '../scans/cli.ts'
import { findPlatforms } from './find-platforms.ts'

export interface ExportOptions { platform?: string[], json?: boolean, scan?: boolean }

/** @throws StartError if the exporter is not active; `svc plugins` shows the reason. */
function pickFormats (app: App, format: string): string[] {
  const keys = [...app.registry.exporters.keys()]
  const wanted = format === 'all' ? keys : keys.filter((key) => key === format)
  if (wanted.length > 0) return wanted
  throw new StartError(`There is no active exporter '${format}'. The exporters are: ${[...keys, 'all'].join(', ')}. ` +
    'svc plugins shows why others are not active.', { exitCode: EXIT_CODES.usage })
}

const printJson = (outcome: ExportOutcome) => {
  for (const file of outcome.files) process.stdout.write(`${JSON.stringify({ event: 'file', ...file })}\n`)
  for (const error of outcome.errors) process.stdout.write(`${JSON.stringify({ event: 'error', ...error })}\n`)
}

/** Prints one line per file on stdout, and failures and skipped ROMs on stderr. */
function printLines (outcome: ExportOutcome): void {
  for (const { path, written, games, media_files: media, skipped, media_errors: failed } of outcome.files) {
    process.stdout.write(`${path}: games ${games}, media files ${media}${written ? '' : ', nothing new'}\n`)
    for (const { rom_id: id, reason } of skipped) process.stderr.write(`svc: ROM ${id} is not in ${path}: ${reason}\n`)
    for (const { path: file, reason } of failed) process.stderr.write(`svc: ${file}: ${reason}\n`)
  }
  for (const { path, reason } of outcome.errors) process.stderr.write(`svc: ${path} was not written: ${reason}\n`)
}

/** Runs `svc export`. Returns 0 if every file was written. */
export async function exportLibrary (features: Features, format: string, options: ExportOptions): Promise<number> {
  const { config } = await features.loadConfig()
  return await withWorker(features, config, async (app) => {
    const formats = pickFormats(app, format)
    if (options.scan === true) {
      const { platform, json } = options
      const code = await runScan(app, { type: 'quick', wait: true, ...platform && { platform }, ...json && { json } })
      if (code !== 0) return code
    }
    const ids = await findPlatforms(app.platforms, { db: app.db, caller: null }, options.platform ?? [], [])
    let failures = 0
    let files = 0
    for (const key of formats) {
      const outcome = await app.exports.request(key, ids, null)
      if (options.json === true) printJson(outcome)
      else printLines(outcome)
      failures += outcome.errors.length
      files += outcome.files.length
    }
    if (failures + files === 0) process.stderr.write('svc: The database has no platform yet. Repeat this command with --scan.\n')
    return failures === 0 ? 0 : 1
  })
}
