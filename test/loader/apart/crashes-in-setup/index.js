import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'crashes-in-setup',
  name: 'crashes-in-setup',
  id: 'integer',

  async setup () {
    process.exit(3)
  },

  async identify () {
    return undefined
  }
})
