import { type ProviderContextOf, Type } from '@svc/plugin-sdk'

const STYLES = ['alternate', 'blurred', 'white_logo', 'material', 'no_logo'] as const
const DIMENSIONS = ['460x215', '920x430', '600x900', '342x482', '660x930', '512x512', '1024x1024'] as const

export const ConfigSchema = Type.Object({
  apiKey: Type.String({
    minLength: 1, env: 'STEAMGRIDDB_API_KEY', writeOnly: true, description: 'Key from the preferences of your account'
  }),
  styles: Type.Array(Type.Union(STYLES.map((style) => Type.Literal(style))), {
    default: [], env: 'STEAMGRIDDB_STYLES', description: 'Styles of the covers that a scan uses; empty for any style'
  }),
  dimensions: Type.Array(Type.Union(DIMENSIONS.map((size) => Type.Literal(size))), {
    default: ['600x900', '342x482', '660x930', '512x512', '1024x1024'],
    env: 'STEAMGRIDDB_DIMENSIONS',
    description: 'Sizes of the covers that a scan uses; by default upright and square ones'
  })
})

export type SgdbContext = ProviderContextOf<typeof ConfigSchema>
