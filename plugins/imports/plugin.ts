import type { FeaturePlugin } from '../../core/feature.ts'
import { type Imports, createImports } from './service.ts'
import { defineImport } from './task.ts'

declare module 'fastify' {
  interface FastifyInstance { imports: Imports }
}

const plugin: FeaturePlugin = async (app, { config }) => {
  app.decorate('imports', createImports(app))
  app.tasks.define(defineImport(app, config))
}

export default plugin
