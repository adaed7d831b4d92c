import type { Config } from '../../core/config/config.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import type { Features } from '../../core/feature.ts'
import { createS3Store } from '../../core/store/s3/s3-store.ts'
import { explainStoreUrl, readStoreAddress } from '../../core/store/s3/address.ts'
import { createStore } from '../../core/store/create-store.ts'
import type { Store } from '../../core/store/store.ts'
import { isDataDirLocked } from '../../core/supervisor/lock.ts'
import { type CopyProgress, copyStore } from './copy-store.ts'

export interface CopyOptions { to?: string, from?: string }

const SHOWN_MS = 500

const describe = ({ copied, bytes, present }: CopyProgress) =>
  `${copied} files copied (${(bytes / 1024 ** 2).toFixed(1)} MiB), ${present} were there`

/** Opens the bucket that an option names. @throws StartError */
function openBucket (config: Config, url: string): Store {
  const problem = explainStoreUrl(url)
  if (problem !== null) throw new StartError(`'${url}' is no address of a bucket: ${problem}. Write s3://bucket/prefix?endpoint=https://host&region=name.`)
  return createS3Store(readStoreAddress(url, config.store))
}

/** Returns the source and the target. @throws StartError */
function chooseStores (config: Config, { to, from }: CopyOptions): { source: Store, target: Store } {
  if ((to === undefined) === (from === undefined)) throw new StartError('Give the other store, either with --to or with --from.')
  const own = createStore(config)
  const other = openBucket(config, to ?? from ?? '')
  if (own.name === other.name) {
    throw new StartError(`${own.name} is the store of the settings too. To copy to the data directory, remove SVC_STORE_URL first.`)
  }
  return to === undefined ? { source: other, target: own } : { source: own, target: other }
}

function createReport () {
  let shown = 0
  return (progress: CopyProgress): void => {
    if (!process.stderr.isTTY || performance.now() - shown < SHOWN_MS) return
    shown = performance.now()
    process.stderr.write(`\r\x1b[K${describe(progress)}`)
  }
}

/** Runs `svc store copy`. */
export async function copy (features: Features, options: CopyOptions): Promise<void> {
  const { config } = await features.loadConfig()
  const { source, target } = chooseStores(config, options)
  const stop = new AbortController()
  const onSignal = () => { stop.abort(new StartError('Interrupted. Repeat the command to continue.', { exitCode: EXIT_CODES.interrupted })) }
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal)
  try {
    const result = await copyStore(source, target, stop.signal, createReport())
    process.stdout.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${source.name} → ${target.name}: ${describe(result)}.\n`)
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal)
  }
  if (isDataDirLocked(config.data_dir)) {
    process.stdout.write('The server is running: stop it and repeat this command, which then copies only what came meanwhile.\n')
  }
}
