import type { FeaturePlugin } from '../../core/feature.ts'
import { type Titles, createTitles } from './titles/titles.ts'

const plugin: FeaturePlugin<Titles> = async (app, { config }) => {
  const titles = createTitles(app, config)
  app.tasks.define(titles.task)
  return titles
}

export default plugin
