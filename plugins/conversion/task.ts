import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import { createSharedHasher } from '../hashing/shared-hasher.ts'
import { defineTask } from '../tasks/define-task.ts'
import { DELETES_ROMS, type TaskDefinition } from '../tasks/definitions.ts'
import { requireChdman } from './chdman.ts'
import { type ConversionArguments, ConversionArgumentsSchema } from './schemas.ts'

export const TASK_NAME = 'convert_library'
/** The timeout of a run. ROMs that are not converted by then are converted when the task runs again. */
const TIMEOUT_SECONDS = 86_400

const TOOLS_QUEUE = 'conversion-tools'
const TOOLS_MS = 5_000

/** Defines the check for chdman in the process that converts, which is not the one that gets the request. */
function defineToolsCheck (app: FastifyInstance): void {
  app.jobs.define<Pick<ConversionArguments, 'to'>>(TOOLS_QUEUE, {
    concurrency: 1,
    timeoutSeconds: TOOLS_MS / 1_000,
    run: async () => await requireChdman().then(() => null, (err: unknown) => {
      if (err instanceof ApiError) return { refusal: err.message }
      throw err
    })
  })
}

/** Defines the task that changes the format of library files. */
export function defineConversion (app: FastifyInstance, config: Config): TaskDefinition {
  const services = { app, config, hashers: createSharedHasher(app) }

  defineToolsCheck(app)

  return defineTask({
    name: TASK_NAME,
    title: 'Convert library',
    description: 'Converts files of ROMs to zip, to CHD or back. Replaces the originals after the written files were read again ' +
      'and compared. Saves, marks and metadata stay with the ROM.',
    type: 'conversion',
    destructive: DELETES_ROMS,
    timeoutSeconds: TIMEOUT_SECONDS,
    arguments: ConversionArgumentsSchema,
    async check (args) {
      const { to, dry_run: isDry = false } = args as ConversionArguments
      if (to !== 'chd' || isDry) return
      const answer = await app.jobs.request(TOOLS_QUEUE, {}, TOOLS_MS) as { refusal?: string } | null
      if (answer?.refusal !== undefined) throw conflict(answer.refusal)
    },
    async run (run) {
      const { runConversion } = await import('./run-conversion.ts')
      await runConversion(services, run)
    }
  })
}
