import { withApp } from '../../core/cli/app.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { findPlugins } from '../plugins/cli.ts'
import type { PluginView } from '../plugins/schemas.ts'
import { type DoctorCheck, type Finding, type CheckInput, fail, ok, warn } from './finding.ts'

const SUBJECT = 'plugins'

function toFinding ({ status, package: name, reason }: PluginRecord): Finding[] {
  const why = reason ?? 'no reason is known'
  if (status === 'failed') return [fail(SUBJECT, `${name} does not work: ${why}`, `Update it, or remove it with svc plugins remove ${name}`)]
  if (status === 'unsupported') {
    return [warn(SUBJECT, `${name} does not support this release: ${why}`, `Install a version that does: svc plugins add ${name}`)]
  }
  return []
}

function examineCircuit ({ key, name, circuit }: PluginView): Finding[] {
  if (circuit === null || circuit.reason === null) return []
  const isRefused = circuit.state === 'open' && circuit.retry_at === null
  return [warn(SUBJECT, circuit.state === 'closed'
    ? `${name} (${key}) is called, but ${circuit.reason}`
    : `${name} (${key}) is not called: ${circuit.reason}`,
  isRefused ? 'Correct the settings as this message says' : 'Wait, or check if this machine can reach its service')]
}

/** Checks the circuits of the running server. Without a server there are none, because no provider is called then. */
async function examineCircuits ({ features, config, state }: CheckInput): Promise<Finding[]> {
  if (state === null) return []
  return (await withApp(features, config, async (app) => await app.plugins.list())).flatMap(examineCircuit)
}

/** Lists plugins that work, that are off for lack of settings, and that cannot be used. */
export const examinePlugins: DoctorCheck = async (input) => {
  const { config, settings } = input
  const records = await findPlugins(config, settings)
  const active = records.filter(({ status }) => status === 'active')
  const off = records.filter(({ status }) => status === 'disabled')
  const list = off.map(({ key, reason }) => `${key} (${reason ?? ''})`).join(', ')
  return [
    ok(SUBJECT, `${active.length} active${off.length === 0 ? '' : `; ${off.length} off until they are configured: ${list}`}`),
    ...records.flatMap(toFinding),
    ...await examineCircuits(input)
  ]
}
