import { defineProvider } from '@svc/plugin-sdk'

export default defineProvider({
  key: 'steady',
  name: 'Answers whatever others do',
  id: 'string',
  async identify ({ fs_name: name }) {
    return { id: name }
  }
})
