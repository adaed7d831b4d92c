import { resolve } from 'node:path'
import { withDatabase } from '../../core/cli/migrate.ts'
import { dataDirOf, loadConfig } from '../../core/config/config.ts'
import { settingsEnvironment } from '../../core/config/environment.ts'
import { StartError } from '../../core/errors.ts'
import { isPresent } from '../../core/files/safe-path.ts'
import { commandLine } from '../../core/supervisor/banner.ts'
import { makeBackup } from './backup.ts'
import { nextPath, readPassphrase } from './place.ts'
import type { Progress } from './progress.ts'
import { restoreBackup } from './restore/restore.ts'

export interface SecretOptions { withoutSecretKey?: boolean }

const SHOWN_MS = 500
/** What a shell reports of a program that Ctrl-C ended: 128 + SIGINT. */
const INTERRUPTED = 130

const print = (text: string) => { process.stdout.write(`${text}\n`) }
const mebibytes = (bytes: number) => `${(bytes / 1024 ** 2).toFixed(1)} MiB`

function describe ({ phase, rows, files, bytes }: Progress): string {
  const counts = [[rows, `${rows} rows`], [files, `${files} files`], [bytes, mebibytes(bytes)]] as const
  return [phase, ...counts.filter(([count]) => count > 0).map(([, text]) => text)].join(', ')
}

/** One line that is written over, for people who watch. */
function createProgress () {
  const isWatched = process.stderr.isTTY
  let shown = 0
  return {
    report (progress: Progress): void {
      if (!isWatched || performance.now() - shown < SHOWN_MS) return
      shown = performance.now()
      process.stderr.write(`\r\x1b[K${describe(progress)}`)
    },
    end (): void { if (isWatched) process.stderr.write('\r\x1b[K') }
  }
}

/** Does what Ctrl-C ends without leaving anything behind. */
async function interruptible<T> (
  work: (signal: AbortSignal, report: (progress: Progress) => void) => Promise<T>
): Promise<T> {
  const stop = new AbortController()
  const onSignal = () => {
    stop.abort(new StartError('Interrupted; nothing was changed. Repeat it to begin anew.', { exitCode: INTERRUPTED }))
  }
  const progress = createProgress()
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    return await work(stop.signal, progress.report)
  } catch (err) {
    throw stop.signal.aborted ? stop.signal.reason : err
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
    progress.end()
  }
}

/** `svc backup`. */
export async function backup (file: string | undefined, { withoutSecretKey }: SecretOptions): Promise<void> {
  const { config } = loadConfig()
  const passphrase = readPassphrase(config, withoutSecretKey === true ? false : config.backup.secret_key)
  const path = file === undefined ? nextPath(config) : resolve(file)
  if (await isPresent(path)) throw new StartError(`${path} is there already. Give the name of a new file, or move that one away.`)
  const result = await withDatabase(config, (databaseUrl) => interruptible((signal, report) =>
    makeBackup({ config, databaseUrl, path, passphrase, signal, report })))
  const rows = Object.values(result.rows).reduce((sum, count) => sum + count, 0)
  print(`${path}: ${mebibytes(result.archive_bytes)}, ${rows} rows of ${Object.keys(result.rows).length} tables, ${result.files} files ` +
    `(${mebibytes(result.bytes)}).`)
  if (result.gone > 0) print(`${result.gone} files were deleted meanwhile: ${result.gone_files.join(', ')}.`)
  print(result.tables_tried
    ? 'It was read again, every hash is right, and its tables were restored into a database of their own.'
    : 'It was read again and every hash is right. Its tables were not tried: the role of SVC_DATABASE_URL may not create databases.')
  print(passphrase === null
    ? 'The secret key is not in it, and config.yml is not encrypted.'
    : 'The secret key and config.yml in it take SVC_BACKUP_PASSPHRASE.')
}

/** `svc restore`. */
export async function restore (file: string, { withoutSecretKey }: SecretOptions): Promise<void> {
  const environment = settingsEnvironment()
  const dataDir = dataDirOf(environment)
  const { manifest, ending, migrated, kept, keptDatabase } = await interruptible((signal, report) => restoreBackup({
    path: resolve(file), dataDir, environment, withoutSecrets: withoutSecretKey === true, signal, report
  }))
  const rows = Object.values(ending.rows).reduce((sum, count) => sum + count, 0)
  print(`${dataDir} is as it was on ${manifest.created_at}: ${rows} rows, ${ending.files} files.`)
  if (migrated.length > 0) print(`Its schema was brought up to date: ${migrated.join(', ')}.`)
  if (keptDatabase !== null) print(`What the database held before is in the database ${keptDatabase}; drop it when you do not need it any more.`)
  if (kept !== null) print(`What the data directory held before is in ${kept}; delete it when you do not need it any more.`)
  print(`Start it with ${commandLine(loadConfig().config, 'start')}. Artwork that is missing comes with svc scan --type complete.`)
}
