import type { CheckInput } from '../../../plugins/doctor/finding.ts'
import { features } from '../../../plugins/index.ts'
import type { TestApp } from '../../support.ts'

export const READABLE = { roms: { snes: { 'a.sfc': 'a' } } }

/** Returns the input for a server that does not run, unless `state` says so. */
export const patientOf = ({ config }: Pick<TestApp, 'config'>, more: Partial<CheckInput> = {}): CheckInput =>
  ({ features, config, settings: {}, state: null, mailTo: null, isFull: false, ...more })
