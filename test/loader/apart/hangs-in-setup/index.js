import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'hangs-in-setup',
  name: 'hangs-in-setup',
  id: 'integer',

  async setup () {
    for (;;);
  },

  async identify () {
    return undefined
  }
})
