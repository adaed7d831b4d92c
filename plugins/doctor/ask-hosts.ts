import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { createStore } from '../../core/store/create-store.ts'
import { type CheckInput, type Finding, fail, ok, warn } from './finding.ts'
import { type Answer, type Question, parseAnswer } from './host-questions.ts'
import { type HostRow, withAnswers } from './rows.ts'

const SUBJECT = 'hosts'
const ANSWER_MS = 6_000

/** A host with the answer of each of its processes; undefined for one that is silent. */
interface Asked { name: string, answers: (Answer | undefined)[] }

/** Asks all processes, and waits until these have answered. @returns the answers by the id of the process */
async function ask (pool: pg.Pool, question: Question, workers: readonly string[]): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  const whole = new AbortController()
  await withAnswers(pool, JSON.stringify(question), {
    receive (payload) {
      const answer = parseAnswer(payload)
      if (answer?.question !== question.id) return
      answers.set(answer.worker, answer)
      if (workers.every((worker) => answers.has(worker))) whole.abort()
    },
    wait: () => sleep(ANSWER_MS, undefined, { signal: whole.signal }).catch(() => { /* all answered */ })
  })
  return answers
}

/** Groups the hosts by a value in their answers, such as `web1, web2 | work1`. */
function groupHosts (hosts: readonly Asked[], valueOf: (answer: Answer) => string | undefined): string[] {
  const names = new Map<string | undefined, Set<string>>()
  for (const { name, answers } of hosts) {
    for (const answer of answers) {
      if (answer === undefined) continue
      const value = valueOf(answer)
      names.set(value, (names.get(value) ?? new Set()).add(name))
    }
  }
  return [...names.values()].map((group) => [...group].join(', '))
}

function examineStores (hosts: readonly Asked[], storeName: string): Finding[] {
  const isBlind = ({ answers }: Asked) => answers.some((answer) => answer?.object === false)
  const blind = hosts.filter(isBlind).map(({ name }) => name)
  const reasons = hosts.flatMap(({ name, answers }) => {
    const reason = answers.map((answer) => answer?.object).find((object) => typeof object === 'string')
    return reason === undefined
      ? []
      : [fail(SUBJECT, `${name} cannot use its store: ${reason}`, 'Check SVC_STORE_URL, the credentials and the network there')]
  })
  if (blind.length === 0) return reasons
  return [...reasons, fail(SUBJECT, `${blind.join(', ')} cannot see what this machine stores in ${storeName}, and lacks its uploads and artwork`,
    'Mount one SVC_DATA_DIR on all hosts, or set the same SVC_STORE_URL on all of them; copy lost files with svc store copy')]
}

function examineSettings (hosts: readonly Asked[]): Finding[] {
  const keys = groupHosts(hosts, ({ key }) => key)
  if (keys.length > 1) {
    return [fail(SUBJECT, `The hosts have ${keys.length} secret keys: ${keys.join(' | ')}`,
      'Set the same SVC_AUTH_SECRET_KEY on all hosts, because sessions, stored secrets and plugins of one host mean nothing to another')]
  }
  const all = hosts.flatMap(({ answers }) => answers)
  const names = new Set(all.flatMap((answer) => Object.keys(answer?.sections ?? {})))
  const different = [...names].flatMap((section) => {
    const groups = groupHosts(hosts, ({ sections }) => sections[section])
    return groups.length > 1 ? [`${section} (${groups.join(' | ')})`] : []
  })
  if (different.length === 0) return []
  return [warn(SUBJECT, `The hosts have different settings: ${different.join('; ')}`,
    'Set the same variables on all hosts, and restart those that run since before a change. config.yml is the same on all hosts that follow it')]
}

function examineSilence (hosts: readonly Asked[]): Finding[] {
  const silent = hosts.filter(({ answers }) => answers.includes(undefined)).map(({ name }) => name)
  return silent.length === 0
    ? []
    : [warn(SUBJECT, `${silent.join(', ')} did not answer within ${ANSWER_MS / 1_000} s`, 'Look into the log there; a host of a former release never answers')]
}

/** Asks several hosts whether they share the store, the secret key and the settings. */
export async function examineAnswers (
  { config }: Pick<CheckInput, 'config'>, pool: pg.Pool, hosts: readonly (HostRow & { name: string })[]
): Promise<Finding[]> {
  const store = createStore(config)
  const id = randomUUID()
  const key = `assets/.svc-doctor-${id}`
  // A folder that this user creates may be closed to the server, which may run as another user.
  const folder = store.folder === null ? null : join(store.folder, 'assets')
  const isNewFolder = folder !== null && !existsSync(folder)
  // The check of the store reports the reason.
  const isStored = await store.put(key, Buffer.from('test')).then(() => true, () => false)
  try {
    const answers = await ask(pool, { id, object: isStored ? key : null }, hosts.flatMap(({ workers }) => workers))
    const asked = hosts.map(({ name, workers }) => ({ name, answers: workers.map((worker) => answers.get(worker)) }))
    const problems = [...examineSilence(asked), ...examineStores(asked, store.name), ...examineSettings(asked)]
    if (problems.length > 0) return problems
    return [ok(SUBJECT, `All hosts have ${isStored ? 'the store, ' : ''}the secret key and the settings in common`)]
  } finally {
    await store.delete([key]).catch(() => undefined)
    if (isNewFolder) await rmdir(folder).catch(() => undefined)
  }
}
