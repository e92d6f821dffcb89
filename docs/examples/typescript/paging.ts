// Reads all customers, 100 per page. The client asks for the next page when the loop gets there.
import { createStamm } from '@stamm/client';

const stamm = createStamm({ baseUrl: process.env.STAMM_URL!, apiKey: process.env.STAMM_KEY! });

for await (const customer of stamm.customers.list({ limit: 100 })) {
  console.log(customer.companyName);
}
