import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../core/access/secrets.ts'
import type { Config } from '../../core/config/config.ts'
import { createPathMask } from '../../core/config/path-mask.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import type { AnyCaller } from '../platforms/visibility.ts'
import { exportFailed } from './errors.ts'
import { maskPaths } from './filter-report.ts'
import { type ExportOutcome, ExportOutcomeSchema } from './schemas.ts'

export const EXPORT_QUEUE = 'shared-exports'
/** The time that a caller waits. The export itself continues. */
const ANSWER_TIMEOUT_MS = 10 * 60_000
const SHOWN_REASONS = 3
/** The answer of a worker that cannot call the exporter. */
const ProblemSchema = Type.Object({ problem: Type.String() })

/** Creates the function that requests exports over HTTP and the command line. */
export function createExportRequests (app: FastifyInstance, config: Config) {
  const mask = createPathMask(config)

  /**
   * Runs an export in the worker. A repeated request for a running export waits for it, in any web worker. A request
   * for other platforms starts after it.
   */
  async function runInWorker (
    exporter: string, platformIds: readonly number[] | null, caller: AnyCaller
  ): Promise<ExportOutcome> {
    const owner = `${caller?.id ?? 'server'}:${exporter}`
    const wanted = platformIds === null ? 'all' : sha256(platformIds.toSorted((a, b) => a - b).join(','))
    const answer = await app.jobs.request(EXPORT_QUEUE, { exporter, platform_ids: platformIds }, ANSWER_TIMEOUT_MS, {
      group: owner, key: `${owner}:${wanted}`
    })
    if (Value.Check(ProblemSchema, answer)) throw conflict(answer.problem)
    // During an upgrade, a worker of the former release sends no `is_unavailable`.
    const outcome = Value.Default(ExportOutcomeSchema, answer)
    if (!Value.Check(ExportOutcomeSchema, outcome)) throw new Error('The scan worker answered without an export outcome')
    return outcome
  }

  /**
   * Requests an export from the scan worker and waits for the outcome. Only administrators see paths of the machine
   * in it.
   *
   * @throws ApiError CONFLICT if the exporter cannot be called; UNAVAILABLE without a worker, or if no library of the
   * platforms can be read now; EXPORT_FAILED if no requested file could be written for another reason.
   */
  return async function request (
    exporter: string, platformIds: readonly number[] | null, caller: AnyCaller
  ): Promise<ExportOutcome> {
    await app.workers.requireScanWorker()
    const report = await runInWorker(exporter, platformIds, caller)
    const outcome = caller === null || caller.access.is_admin ? report : maskPaths(report, mask)
    if (outcome.files.length > 0 || outcome.errors.length === 0) return outcome
    throw toError(outcome)
  }
}

/** Returns the error of an export that wrote no file. */
function toError ({ errors }: Pick<ExportOutcome, 'errors'>): ApiError {
  const isUnavailable = errors.every((error) => error.is_unavailable)
  const reasons = new Set(errors.map(({ path, reason }) => isUnavailable ? reason : `${path}: ${reason}`))
  const shown = [...reasons].slice(0, SHOWN_REASONS)
  return isUnavailable
    ? new ApiError('UNAVAILABLE', shown.join('. '))
    : exportFailed(`No file could be written. ${shown.join(' ')}`)
}
