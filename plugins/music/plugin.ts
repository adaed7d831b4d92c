import type { FeaturePlugin } from '../../core/feature.ts'
import { type Music, createMusic } from './service.ts'

const plugin: FeaturePlugin<Music> = async (app) => createMusic(app)

export default plugin
