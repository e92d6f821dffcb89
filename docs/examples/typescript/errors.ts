// Sends invalid data and prints every invalid field. The client repeats safe requests and obeys Retry-After.
import { createStamm, StammError } from '@stamm/client';

const stamm = createStamm({
  baseUrl: process.env.STAMM_URL!,
  apiKey: process.env.STAMM_KEY!,
  maxRetries: 5,
});

try {
  await stamm.customers.create({
    companyName: '',
    address: { streetName: 'Ballindamm', houseNumber: '17a', zipCode: '', city: 'Hamburg' },
  });
} catch (error) {
  if (!(error instanceof StammError)) throw error;
  console.log(`code ${error.code}, request ${error.requestId}`);
  for (const { field, code, message } of error.errors) console.log(`${field} ${code}: ${message}`);
}
