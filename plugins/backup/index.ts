import fp from 'fastify-plugin'
import type { FeatureOptions } from '../../core/app.ts'
import { defineBackup } from './task.ts'

export default fp<FeatureOptions>(async (app, { config }) => {
  app.tasks.define(defineBackup(config, app.pg.options.connectionString ?? ''))
}, { name: 'backup', dependencies: ['database', 'tasks'] })
