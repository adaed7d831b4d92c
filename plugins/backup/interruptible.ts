import { EXIT_CODES, StartError } from '../../core/errors.ts'
import { type Progress, mebibytes } from './progress.ts'

const SHOWN_MS = 500

function describe ({ phase, rows, files, bytes }: Progress): string {
  const counts = [[rows, `${rows} rows`], [files, `${files} files`], [bytes, mebibytes(bytes)]] as const
  return [phase, ...counts.filter(([count]) => count > 0).map(([, text]) => text)].join(', ')
}

/** Shows progress on a terminal, in one line that is overwritten. */
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

/** Runs work that Ctrl-C can interrupt without leaving files behind. */
export async function interruptible<T> (
  work: (signal: AbortSignal, report: (progress: Progress) => void) => Promise<T>
): Promise<T> {
  const stop = new AbortController()
  const onSignal = () => {
    stop.abort(new StartError('Interrupted; nothing was changed. Repeat the command to start again.', { exitCode: EXIT_CODES.interrupted }))
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
