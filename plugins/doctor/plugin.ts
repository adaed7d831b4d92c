import type { FastifyInstance } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import type { FeaturePlugin } from '../../core/feature.ts'
import { NEVER, limitTime } from '../../core/concurrency/limit-time.ts'
import { reasonOf } from './finding.ts'
import { type Answer, describeSettings, parseQuestion } from './host-questions.ts'
import { QUESTIONS, notifyAnswer } from './rows.ts'

/** Less than the time for which `svc doctor` waits. */
const STORE_MS = 4_000
/** Notifications have at most 8,000 bytes. */
const REASON_CHARACTERS = 500

async function findObject ({ store }: FastifyInstance, key: string | null): Promise<Answer['object']> {
  if (key === null) return null
  try {
    return await limitTime('no answer within', STORE_MS, NEVER, () => store.stat(key)) !== null
  } catch (err) {
    return reasonOf(err).slice(0, REASON_CHARACTERS)
  }
}

async function answer (app: FastifyInstance, config: Config, payload: string): Promise<void> {
  const question = parseQuestion(payload)
  if (question === null) return
  const given: Answer = {
    question: question.id,
    worker: app.workers.id,
    object: await findObject(app, question.object),
    ...describeSettings({ ...config }, app.secrets)
  }
  await notifyAnswer(app.db, JSON.stringify(given))
}

/** Answers `svc doctor`, which may run on another host. */
const plugin: FeaturePlugin = async (app, { config, role }) => {
  if (role === 'command') return
  app.addHook('onReady', async () => {
    await app.workers.listen(QUESTIONS, (payload) => {
      answer(app, config, payload).catch((err: unknown) => {
        app.log.debug({ err }, 'a question of svc doctor could not be answered')
      })
    })
  })
}

export default plugin
