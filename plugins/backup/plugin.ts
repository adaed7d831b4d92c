import type { FeaturePlugin } from '../../core/feature.ts'
import { defineBackup } from './task.ts'

const plugin: FeaturePlugin = async (app, { config }) => {
  app.tasks.define(defineBackup(config, app.databaseUrl))
}

export default plugin
