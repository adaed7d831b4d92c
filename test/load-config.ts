import { loadConfig as load } from '../core/config/config.ts'
import type { Environment } from '../core/config/environment.ts'
import { features } from '../plugins/index.ts'

const sections = await features.loadSections()

/** Loads a configuration with the sections of all features. */
export const loadConfig = (environment: Environment, startText: string | null = null) =>
  load(sections, environment, startText)
