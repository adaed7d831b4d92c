import type { FeaturePlugin } from '../../core/feature.ts'
import { logsConfig } from './config.ts'
import { forwardLines } from './forward.ts'

const plugin: FeaturePlugin = async (app, { config }) => {
  if (!logsConfig.of(config).disable_viewer) forwardLines(app)
}

export default plugin
