import { withApp } from '../../core/cli/app.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { findPlugins } from '../plugins/cli.ts'
import type { PluginView } from '../plugins/schemas.ts'
import { type Examine, type Finding, type Patient, fail, ok, warn } from './finding.ts'

const SUBJECT = 'plugins'

function toFinding ({ status, package: name, reason }: PluginRecord): Finding[] {
  const why = reason ?? 'no reason is known'
  if (status === 'failed') return [fail(SUBJECT, `${name} does not work: ${why}`, `Update it, or take it out with svc plugins remove ${name}`)]
  if (status === 'unsupported') {
    return [warn(SUBJECT, `${name} is not for this release: ${why}`, `Install a version of it that is: svc plugins add ${name}`)]
  }
  return []
}

function examineCircuit ({ key, name, circuit }: PluginView): Finding[] {
  if (circuit === null || circuit.reason === null) return []
  const isRefused = circuit.state === 'open' && circuit.retry_at === null
  return [warn(SUBJECT, circuit.state === 'closed'
    ? `${name} (${key}) is asked, but ${circuit.reason}`
    : `${name} (${key}) is not asked: ${circuit.reason}`,
  isRefused ? 'Correct the settings that it names and restart the server' : 'Wait, or see whether its service can be reached from here')]
}

/** Checks the circuits of the running server. Without a server there are none, because no provider is called then. */
async function examineCircuits ({ features, config, state }: Patient): Promise<Finding[]> {
  if (state === null) return []
  return (await withApp(features, config, async (app) => await app.plugins.list())).flatMap(examineCircuit)
}

/** Lists plugins that work, that are off for lack of settings, and that cannot be used. */
export const examinePlugins: Examine = async (patient) => {
  const { config, settings } = patient
  const records = await findPlugins(config, settings)
  const active = records.filter(({ status }) => status === 'active')
  const off = records.filter(({ status }) => status === 'disabled')
  const list = off.map(({ key, reason }) => `${key} (${reason ?? ''})`).join(', ')
  return [
    ok(SUBJECT, `${active.length} work${off.length === 0 ? '' : `; ${off.length} are off until they are set up: ${list}`}`),
    ...records.flatMap(toFinding),
    ...await examineCircuits(patient)
  ]
}
